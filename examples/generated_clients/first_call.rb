# Queue a request, wait for it and read the events, with a client that openapi-generator has written:
#
#   openapi-generator-cli generate -i "$BASE_URL/openapi-3.0.json" -g ruby -o client \
#     --additional-properties=gemName=queue30
#   gem install typhoeus && ruby -I client/lib first_call.rb
require "queue30"
require "securerandom"
require "uri"

%w[BASE_URL API_KEY CONNECTION_ID].each do |name|
  abort "#{name} is not set. In the folder of the project, run: set -a; . .local/env; set +a" if ENV[name].to_s.empty?
end
address = URI(ENV["BASE_URL"])
Queue30.configure do |configuration|
  configuration.scheme = address.scheme
  configuration.host = "#{address.host}:#{address.port}"
  configuration.username = ENV["API_KEY"]
  configuration.timeout = 60 # longer than a call may wait
end
requests = Queue30::QueuedRequestsApi.new

query = Queue30::QueuedRequestInput.new(request_json: { CustomerQueryRq: { MaxReturned: 2 } }, label: "Ruby")
key = SecureRandom.uuid # the number of your order, if you have one
record = requests.create_queued_request(ENV["CONNECTION_ID"], query, idempotency_key: key).data
puts "#{record.request_name} #{record.state}"

ended = ["response_received", "error", "discarded"]
until ended.include?(record.state)
  record = requests.get_queued_request(record.id, wait: 20).data
  sleep 2 unless ended.include?(record.state) # if too many calls wait, the service responds at once
end
puts record.state
abort(record.error ? record.error.message : "discarded") unless record.state == "response_received"

record.response_json[0]["QBXMLMsgsRs"]["CustomerQueryRs"][:CustomerRet].each do |customer|
  puts "#{customer[:ListID]} #{customer[:FullName]}"
end

events = Queue30::EventsApi.new
after = nil
completed = nil
until completed
  feed = events.list_events({ after: after, wait: 20 }.compact)
  completed = feed.data.grep(Queue30::QueuedRequestCompletedEvent).find { |event| event.page_request_id == record.id }
  sleep 2 if feed.data.empty?
  after = feed._next # keep it, and begin there next time
end
puts "event: #{completed.label}"
