// Queue a request, wait for it, read a page of the list and the events, with a client of openapi-generator:
//
//   openapi-generator-cli generate -i "$BASE_URL/openapi-3.0.json" -g java --library native -o client \
//     --additional-properties=invokerPackage=queue,apiPackage=queue.api,modelPackage=queue.model \
//     --additional-properties=useJakartaEe=true,useSingleRequestParameter=true,useOneOfDiscriminatorLookup=true \
//     --parameter-name-mappings wait=waitSeconds
//
// With useSingleRequestParameter, the program still compiles when a call gets another optional parameter. Its classes
// then have a method for each parameter, and `wait` is a method of every class of Java. With useOneOfDiscriminatorLookup,
// an event is read as the class of its type, and an event of a type that a later version adds is an OtherEvent.

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import queue.ApiClient;
import queue.api.EventsApi;
import queue.api.EventsApi.APIListEventsRequest;
import queue.api.QueuedRequestsApi;
import queue.api.QueuedRequestsApi.APICreateQueuedRequestRequest;
import queue.api.QueuedRequestsApi.APIGetQueuedRequestRequest;
import queue.api.QueuedRequestsApi.APIListQueuedRequestsRequest;
import queue.model.Feed;
import queue.model.FeedEvent;
import queue.model.ListedRequestPage;
import queue.model.QueuedRequest;
import queue.model.QueuedRequestCompletedEvent;
import queue.model.QueuedRequestInput;
import queue.model.State;

public class FirstCall {
    public static void main(String[] arguments) throws Exception {
        String user = variable("API_KEY") + ":";
        String credentials = Base64.getEncoder().encodeToString(user.getBytes(StandardCharsets.UTF_8));
        ApiClient client = new ApiClient();
        client.updateBaseUri(variable("BASE_URL"));
        client.setRequestInterceptor(call -> call.header("Authorization", "Basic " + credentials));
        client.setConnectTimeout(Duration.ofSeconds(10));
        client.setReadTimeout(Duration.ofSeconds(60)); // longer than a call may wait
        QueuedRequestsApi requests = new QueuedRequestsApi(client);
        UUID connection = UUID.fromString(variable("CONNECTION_ID"));

        QueuedRequestInput query = new QueuedRequestInput()
            .requestJson(Map.of("CustomerQueryRq", Map.of("MaxReturned", 2)))
            .label("Java");
        String key = UUID.randomUUID().toString(); // the number of your order, if you have one
        QueuedRequest record = requests
            .createQueuedRequest(APICreateQueuedRequestRequest.newBuilder()
                .connectionId(connection)
                .queuedRequestInput(query)
                .idempotencyKey(key)
                .build())
            .getData();
        System.out.println(record.getRequestName() + " " + record.getState());

        Set<State> ended = Set.of(State.RESPONSE_RECEIVED, State.ERROR, State.DISCARDED);
        while (!ended.contains(record.getState())) {
            record = requests
                .getQueuedRequest(APIGetQueuedRequestRequest.newBuilder().requestId(record.getId()).waitSeconds(20).build())
                .getData();
            if (!ended.contains(record.getState())) {
                Thread.sleep(2000); // if too many calls wait, the service responds at once
            }
        }
        System.out.println(record.getState());
        if (record.getState() != State.RESPONSE_RECEIVED) {
            throw new IllegalStateException(record.getError() == null ? "discarded" : record.getError().getMessage());
        }

        Map<?, ?> response = (Map<?, ?>) record.getResponseJson().get(0).get("QBXMLMsgsRs").get("CustomerQueryRs");
        for (Object customer : (List<?>) response.get("CustomerRet")) {
            System.out.println(((Map<?, ?>) customer).get("ListID") + " " + ((Map<?, ?>) customer).get("FullName"));
        }

        ListedRequestPage page = requests.listQueuedRequests(
            APIListQueuedRequestsRequest.newBuilder().connectionId(connection).page(1).label("Java").build());
        System.out.println("page " + page.getPage() + ": " + page.getData().get(0).getRequestName());

        System.out.println("event: " + completed(new EventsApi(client), record.getId()).getLabel());
    }

    /** Read the events until the request has ended. A program that keeps `after` begins there next time. */
    private static QueuedRequestCompletedEvent completed(EventsApi events, UUID request) throws Exception {
        String after = null;
        while (true) {
            Feed feed = events.listEvents(APIListEventsRequest.newBuilder().after(after).waitSeconds(20).build());
            for (FeedEvent event : feed.getData()) {
                if (event.getActualInstance() instanceof QueuedRequestCompletedEvent
                    && event.getQueuedRequestCompletedEvent().getPageRequestId().equals(request)) {
                    return event.getQueuedRequestCompletedEvent();
                }
            }
            if (feed.getData().isEmpty()) {
                Thread.sleep(2000);
            }
            after = feed.getNext();
        }
    }

    private static String variable(String name) {
        String value = System.getenv(name);
        if (value == null || value.isEmpty()) {
            System.err.println(name + " is not set. In the folder of the project, run: set -a; . .local/env; set +a");
            System.exit(1);
        }
        return value;
    }
}
