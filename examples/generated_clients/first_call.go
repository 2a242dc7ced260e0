// Queue a request, wait for it, read a page of the list and the events, with a client of openapi-generator:
//
//	openapi-generator-cli generate -i "$BASE_URL/openapi-3.0.json" -g go -o queue \
//	  --additional-properties=packageName=queue,withGoMod=false,useOneOfDiscriminatorLookup=true
//
// With useOneOfDiscriminatorLookup, an event is read as the type of its `type`. One that a later version adds is empty.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"time"

	"first_call/queue"
)

func main() {
	configuration := queue.NewConfiguration()
	configuration.Servers = queue.ServerConfigurations{{URL: variable("BASE_URL")}}
	configuration.HTTPClient = &http.Client{Timeout: 60 * time.Second} // longer than a call may wait
	client := queue.NewAPIClient(configuration)
	credentials := queue.BasicAuth{UserName: variable("API_KEY")}
	call := context.WithValue(context.Background(), queue.ContextBasicAuth, credentials)
	connection := variable("CONNECTION_ID")

	query := queue.NewQueuedRequestInput()
	query.SetRequestJson(map[string]interface{}{"CustomerQueryRq": map[string]interface{}{"MaxReturned": 2}})
	query.SetLabel("Go")
	key := randomKey() // the number of your order, if you have one
	queued, _, err := client.QueuedRequestsAPI.CreateQueuedRequest(call, connection).
		QueuedRequestInput(*query).IdempotencyKey(key).Execute()
	check(err)
	record := queued.Data
	fmt.Println(record.RequestName, record.State)

	ended := map[queue.State]bool{queue.RESPONSE_RECEIVED: true, queue.ERROR: true, queue.DISCARDED: true}
	for !ended[record.State] {
		found, _, err := client.QueuedRequestsAPI.GetQueuedRequest(call, record.Id).Wait(20).Execute()
		check(err)
		record = found.Data
		if !ended[record.State] {
			time.Sleep(2 * time.Second) // if too many calls wait, the service responds at once
		}
	}
	fmt.Println(record.State)
	if failure, ok := record.GetErrorOk(); ok && failure != nil {
		check(fmt.Errorf("%s", failure.Message))
	} else if record.State != queue.RESPONSE_RECEIVED {
		check(fmt.Errorf("the request is %s", record.State))
	}

	response := record.ResponseJson[0]["QBXMLMsgsRs"]["CustomerQueryRs"].(map[string]interface{})
	for _, each := range response["CustomerRet"].([]interface{}) {
		customer := each.(map[string]interface{})
		fmt.Println(customer["ListID"], customer["FullName"])
	}

	page, _, err := client.QueuedRequestsAPI.ListQueuedRequests(call, connection).Page(1).Label("Go").Execute()
	check(err)
	fmt.Printf("page %d: %s\n", page.Page, page.Data[0].RequestName)

	fmt.Println("event:", completed(client.EventsAPI.ListEvents(call).Wait(20), record.Id).GetLabel())
}

// completed reads the events until the request has ended. A program that keeps feed.Next begins there next time.
func completed(list queue.ApiListEventsRequest, request string) *queue.QueuedRequestCompletedEvent {
	for {
		feed, _, err := list.Execute()
		check(err)
		for _, event := range feed.Data {
			if found := event.QueuedRequestCompletedEvent; found != nil && found.PageRequestId == request {
				return found
			}
		}
		if len(feed.Data) == 0 {
			time.Sleep(2 * time.Second)
		}
		list = list.After(feed.Next)
	}
}

func randomKey() string {
	random := make([]byte, 16)
	_, err := rand.Read(random)
	check(err)
	return fmt.Sprintf("%x", random)
}

func variable(name string) string {
	value := os.Getenv(name)
	if value == "" {
		check(fmt.Errorf("%s is not set. In the folder of the project, run: set -a; . .local/env; set +a", name))
	}
	return value
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
