import java.lang.reflect.Field;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * DynamoDB Local on one address: loopback, or DYNAMODB_LOCAL_HOST. By itself it listens on every address of the machine
 * and has no option for it.
 */
final class Loopback {
    public static void main(String[] arguments) throws Exception {
        DynamoDBProxyServer server = ServerRunner.createServerFromCommandLineArgs(arguments);
        String host = System.getenv().getOrDefault("DYNAMODB_LOCAL_HOST", "127.0.0.1");
        Field inner = DynamoDBProxyServer.class.getDeclaredField("server");
        inner.setAccessible(true);
        for (Connector connector : ((Server) inner.get(server)).getConnectors()) {
            ((ServerConnector) connector).setHost(host);
        }
        server.start();
        server.join();
    }
}
