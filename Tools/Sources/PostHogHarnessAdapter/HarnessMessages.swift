import Foundation
import KeelAnalytics

// The messages between harness and adapter: the members of `adapter_interface` in the harness's CONTRACT.yaml, in snake
// case.

/// The settings of a new service.
///
/// Members that have no counterpart in Keel are not read: `max_retries`, `historical_migration` and
/// `disable_geoip`.
struct HarnessInit: Decodable {
    var apiKey: String
    var host: String
    var flushAt: Int?
    var flushIntervalMs: Int?
    var enableCompression: Bool?
}

/// An event to track.
struct HarnessCapture: Decodable {
    var distinctId: String
    var event: String
    var properties: [String: HarnessValue]?
    var timestamp: Date?
}

/// The capabilities of the adapter.
struct HarnessHealth: Encodable {
    var sdkName = "keel"
    var sdkVersion = "0.1.0"
    var adapterVersion = "1.0.0"
    var supportsParallel = false
    /// `/batch`, with gzip; not the newer protocol of `capture_v1`.
    var capabilities = ["capture_v0", "encoding_gzip"]
}

/// A successful call.
struct HarnessSuccess: Encodable {
    var success = true
}

/// A refused call.
struct HarnessRefusal: Encodable {
    var success = false
    var error: String
}

/// A tracked event.
struct HarnessCaptured: Encodable {
    var success = true
    var uuid: String
}

/// The result of a flush.
struct HarnessFlushed: Encodable {
    var success = true
    var eventsFlushed: Int
}

/// The state of a service's events.
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
        /// The number of earlier attempts with the same events.
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
