<?php
// Queue a request, wait for it and read the events, with a client that openapi-generator has written:
//
//   openapi-generator-cli generate -i "$BASE_URL/openapi-3.0.json" -g php -o client \
//     --additional-properties=invokerPackage=Queue --name-mappings if_exists=existing
//   composer install --working-dir client
//
// Each class of a generated client has a method setIfExists, so the member `if_exists` gets another name.

require 'client/vendor/autoload.php';

use GuzzleHttp\Client;
use Queue\Api\EventsApi;
use Queue\Api\QueuedRequestsApi;
use Queue\Configuration;
use Queue\Model\QueuedRequestInput;
use Queue\Model\State;

foreach (['BASE_URL', 'API_KEY', 'CONNECTION_ID'] as $name) {
    if (!getenv($name)) {
        exit("$name is not set. In the folder of the project, run: set -a; . .local/env; set +a\n");
    }
}
$configuration = (new Configuration())->setHost(getenv('BASE_URL'))->setUsername(getenv('API_KEY'))
    ->setBooleanFormatForQueryString(Configuration::BOOLEAN_FORMAT_STRING); // `true`, not `1`
$http = new Client(['timeout' => 60]); // longer than a call may wait
$requests = new QueuedRequestsApi($http, $configuration);

$query = new QueuedRequestInput(['request_json' => ['CustomerQueryRq' => ['MaxReturned' => 2]], 'label' => 'PHP']);
$key = bin2hex(random_bytes(16)); // the number of your order, if you have one
$record = $requests->createQueuedRequest(getenv('CONNECTION_ID'), $query, idempotency_key: $key)->getData();
echo $record->getRequestName(), ' ', $record->getState(), "\n";

$ended = [State::RESPONSE_RECEIVED, State::ERROR, State::DISCARDED];
while (!in_array($record->getState(), $ended)) {
    $record = $requests->getQueuedRequest($record->getId(), wait: 20)->getData();
    if (!in_array($record->getState(), $ended)) {
        sleep(2); // if too many calls wait, the service responds at once
    }
}
echo $record->getState(), "\n";
if ($record->getState() !== State::RESPONSE_RECEIVED) {
    throw new RuntimeException($record->getError()?->getMessage() ?? 'discarded');
}
foreach ($record->getResponseJson()[0]['QBXMLMsgsRs']['CustomerQueryRs']->CustomerRet as $customer) {
    echo "$customer->ListID $customer->FullName\n";
}

$events = new EventsApi($http, $configuration);
$after = null;
do {
    $feed = $events->listEvents($after, wait: 20);
    $found = array_filter($feed->getData(), fn ($event) => $event->getPageRequestId() === $record->getId());
    if (!$feed->getData()) {
        sleep(2);
    }
    $after = $feed->getNext(); // keep it, and begin there next time
} while (!$found);
echo 'event: ', reset($found)->getLabel(), "\n";
