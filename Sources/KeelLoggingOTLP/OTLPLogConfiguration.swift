#if Logging

public import KeelCore
internal import KeelLogging

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Where and how logs are shipped.
public struct OTLPLogConfiguration: Sendable {
    /// The two forms of OTLP over HTTP.
    public enum Encoding: Sendable, Hashable {
        /// Protocol Buffers, which every collector takes.
        case protobuf
        /// JSON, for receivers that take nothing else, and to read along.
        case json

        var mediaType: String {
            switch self {
            case .protobuf: "application/x-protobuf"
            case .json: "application/json"
            }
        }
    }

    /// The address that requests are sent to, path included: `http://localhost:4318/v1/logs`.
    public var endpoint: URL
    /// The form of requests.
    public var encoding = Encoding.protobuf
    /// Whether requests are compressed with gzip, which every collector takes.
    public var compresses = true
    /// Further header fields, such as `Authorization`.
    public var headers: [String: String] = [:]
    /// What describes the process: `service.name`, `service.version` and others of OpenTelemetry's
    /// conventions for resources.
    public var resource: [String: String] = [:]
    /// The most records of one request.
    public var batchCount = 512
    /// The most bytes of records of one request, before compression.
    public var batchByteLimit = 1 << 20
    /// How long records are gathered before they are sent.
    public var delay = Duration.seconds(1)
    /// How long the collector may take to answer.
    public var timeout = Duration.seconds(10)
    /// The pauses after failures; the number of attempts in it is not looked at, because a record is
    /// tried until the collector takes or refuses it, or the journal's bounds take it.
    public var retry = RetryPolicy(
        attempts: .max,
        baseDelay: .seconds(1),
        maximumDelay: .seconds(300)
    )
    /// The name under which the journal remembers what was shipped.
    public var consumer = "otlp"

    /// Creates the usual configuration for an address.
    public init(endpoint: URL) { self.endpoint = endpoint }

    func check() throws(LoggingError) {
        let scheme = endpoint.scheme?.lowercased()
        guard scheme == "http" || scheme == "https", endpoint.host()?.isEmpty == false else {
            throw LoggingError(
                .invalidArgument,
                "The endpoint is an address such as http://localhost:4318/v1/logs"
            )
        }
        guard batchCount >= 1, batchByteLimit >= 1024 else {
            throw LoggingError(
                .invalidArgument,
                "batchCount is at least 1, and batchByteLimit at least 1 KiB"
            )
        }
    }
}

#endif
