# Check the signature of a webhook. It needs Ruby 2.7 and no gem.
require "openssl"

module Webhooks
  SECRET = %r{\Awhsec_((?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\z}n

  # Return whether a webhook is genuine. `body` has the bytes as they came, before they are parsed.
  def self.valid?(secret, headers, body)
    id, timestamp = headers["webhook-id"].to_s.b, headers["webhook-timestamp"].to_s.b
    key = SECRET.match(secret.to_s.b)
    return false if !key || id.empty? || !timestamp.match?(/\A[0-9]{1,12}\z/)
    return false if (Time.now.to_i - timestamp.to_i).abs > 300

    digest = OpenSSL::HMAC.digest("SHA256", key[1].unpack1("m"), "#{id}.#{timestamp}.".b + body.b)
    expected = "v1,#{[digest].pack("m0")}"
    headers["webhook-signature"].to_s.b.split(/ /).any? { |signature| OpenSSL.secure_compare(expected, signature) }
  end
end
