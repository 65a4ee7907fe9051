import Foundation
import KeelAnalytics

// The messages between harness and adapter: the members of `adapter_interface` in the harness's CONTRACT.yaml, in snake
// case.

/// The settings of a new service, without `max_retries`, `historical_migration` and `disable_geoip`, which Keel does
/// not have.
struct HarnessInit: Decodable {
    var apiKey: String
    var host: String
    var flushAt: Int?
    var flushIntervalMs: Int?
    var enableCompression: Bool?
}

struct HarnessCapture: Decodable {
    var distinctId: String
    var event: String
    var properties: [String: HarnessValue]?
    var timestamp: Date?
}

struct HarnessHealth: Encodable {
    var sdkName = "keel"
    var sdkVersion = "0.1.0"
    var adapterVersion = "1.0.0"
    var supportsParallel = false
    /// `/batch`, with gzip; not the newer protocol of `capture_v1`.
    var capabilities = ["capture_v0", "encoding_gzip"]
}

struct HarnessSuccess: Encodable {
    var success = true
}

struct HarnessRefusal: Encodable {
    var success = false
    var error: String
}

struct HarnessCaptured: Encodable {
    var success = true
    var uuid: String
}

struct HarnessFlushed: Encodable {
    var success = true
    var eventsFlushed: Int
}

struct HarnessState: Codable {
    var pendingEvents = 0
    var totalEventsCaptured = 0
    var totalEventsSent = 0
    var totalRetries = 0
    var lastError: String?
    var requestsMade: [Request] = []

    /// A request to the harness's server.
    struct Request: Codable {
        var timestampMs: Int64
        /// The status of the response; 0 without a response.
        var statusCode: Int
        /// The number of attempts with the same events directly before this one.
        var retryAttempt: Int
        var eventCount: Int
        var uuidList: [String]
    }
}

/// Any JSON value, as a property of an event.
struct HarnessValue: Decodable {
    let value: AnalyticsValue

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            value = .null
        } else if let flag = try? container.decode(Bool.self) {
            value = .boolean(flag)
        } else if let number = try? container.decode(Int64.self) {
            value = .integer(number)
        } else if let number = try? container.decode(Double.self) {
            value = .double(number)
        } else if let text = try? container.decode(String.self) {
            value = .string(text)
        } else if let elements = try? container.decode([HarnessValue].self) {
            value = .array(elements.map(\.value))
        } else {
            value = .object(try container.decode([String: HarnessValue].self).mapValues(\.value))
        }
    }
}
