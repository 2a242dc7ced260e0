// Queue a request, wait for it and read the events, with a client that openapi-generator has written:
//
//   openapi-generator-cli generate -i "$BASE_URL/openapi-3.0.json" -g csharp --library httpclient -o client \
//     --additional-properties=packageName=Queue,targetFramework=net48,useOneOfDiscriminatorLookup=true
//
// net48 is for .NET Framework 4.8, and net8.0 for .NET 8. With useOneOfDiscriminatorLookup, an event is read as the class
// of its type, and an event of a type that a later version adds is an OtherEvent.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Net.Http;
using System.Threading.Tasks;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using Queue.Api;
using Queue.Client;
using Queue.Model;

public static class FirstCall
{
    public static void Main() => Run().GetAwaiter().GetResult();

    private static async Task Run()
    {
        var http = new HttpClient { Timeout = TimeSpan.FromSeconds(60) }; // one for the whole program
        var configuration = new Configuration
        {
            BasePath = Variable("BASE_URL"),
            Username = Variable("API_KEY"),
            Password = "",
            Timeout = TimeSpan.FromSeconds(60), // longer than a call may wait
        };
        var requests = new QueuedRequestsApi(http, configuration);
        requests.ApiClient.SerializerSettings.DateParseHandling = DateParseHandling.None; // keep QuickBooks' times as texts
        var connection = Guid.Parse(Variable("CONNECTION_ID"));

        var content = new Dictionary<string, object> { ["MaxReturned"] = 2 };
        var body = new Dictionary<string, object> { ["CustomerQueryRq"] = content };
        var query = new QueuedRequestInput(requestJson: body, label: "C#");
        var key = Guid.NewGuid().ToString(); // the number of your order, if you have one
        var record = (await requests.CreateQueuedRequestAsync(connection, query, idempotencyKey: key)).Data;
        Console.WriteLine($"{record.RequestName} {record.State}");

        var ended = new[] { State.ResponseReceived, State.Error, State.Discarded };
        while (!ended.Contains(record.State))
        {
            record = (await requests.GetQueuedRequestAsync(record.Id, wait: 20)).Data;
            if (!ended.Contains(record.State)) await Task.Delay(2000); // it may respond at once
        }
        Console.WriteLine(record.State);
        if (record.State != State.ResponseReceived)
        {
            throw new InvalidOperationException(record.Error?.Message ?? "discarded");
        }

        var response = (JObject)record.ResponseJson[0]["QBXMLMsgsRs"]["CustomerQueryRs"];
        foreach (var customer in response["CustomerRet"])
        {
            Console.WriteLine($"{customer["ListID"]} {customer["FullName"]} {customer["TimeCreated"]}");
        }

        var completed = await Completed(new EventsApi(http, configuration), record.Id);
        Console.WriteLine($"event: {completed.Label}");
    }

    /// <summary>Read the events until the request has ended. Keep `after` to begin there next time.</summary>
    private static async Task<QueuedRequestCompletedEvent> Completed(EventsApi events, Guid request)
    {
        string after = null;
        while (true)
        {
            var feed = await events.ListEventsAsync(after, wait: 20);
            var found = feed.Data.Select(each => each.ActualInstance).OfType<QueuedRequestCompletedEvent>()
                .FirstOrDefault(each => each.PageRequestId == request);
            if (found != null) return found;
            if (!feed.Data.Any()) await Task.Delay(2000);
            after = feed.Next;
        }
    }

    private static string Variable(string name) =>
        Environment.GetEnvironmentVariable(name)
        ?? throw new InvalidOperationException($"{name} is not set. In the project, run: set -a; . .local/env; set +a");
}
