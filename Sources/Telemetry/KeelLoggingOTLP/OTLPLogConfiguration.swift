#if Logging

public import KeelCore
internal import KeelLogging

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The collector that logs are shipped to, and the settings of shipping.
public struct OTLPLogConfiguration: Sendable {
    /// The encodings of OTLP over HTTP.
    public enum Encoding: Sendable, Hashable {
        /// Protocol Buffers, which every collector accepts.
        case protobuf
        /// JSON, for receivers that accept nothing else, and for debugging.
        case json

        var mediaType: String {
            switch self {
            case .protobuf: "application/x-protobuf"
            case .json: "application/json"
            }
        }
    }

    /// The URL that requests are sent to, including the path: `http://localhost:4318/v1/logs`.
    public var endpoint: URL
    /// The encoding of requests.
    public var encoding = Encoding.protobuf
    /// Whether requests are compressed with gzip, which every collector accepts.
    public var compresses = true
    /// Additional header fields, such as `Authorization`.
    public var headers: [String: String] = [:]
    /// The attributes of the process: `service.name`, `service.version` and others of
    /// OpenTelemetry's resource conventions.
    public var resource: [String: String] = [:]
    /// The maximum number of records per request, at least 1.
    public var batchCount = 512
    /// The maximum size of a request's records in bytes, as Protocol Buffers before compression, at least 1 KiB.
    public var batchByteLimit = 1 << 20
    /// The time for which records are collected before they are sent.
    public var delay = Duration.seconds(1)
    /// The time limit for the collector's response.
    public var timeout = Duration.seconds(10)
    /// The delays after failures.
    ///
    /// The limits on attempts and time are ignored: a record is retried until the collector accepts or refuses it, or
    /// the journal's bounds remove it.
    public var retry = RetryPolicy(
        attempts: .max,
        baseDelay: .seconds(1),
        maximumDelay: .seconds(300)
    )
    /// The name under which the journal stores the progress of shipping.
    public var consumer = "otlp"

    /// Creates the default configuration for a URL.
    public init(endpoint: URL) { self.endpoint = endpoint }

    func check() throws(LoggingError) {
        let scheme = endpoint.scheme?.lowercased()
        guard scheme == "http" || scheme == "https", endpoint.host()?.isEmpty == false else {
            throw LoggingError(
                .invalidArgument,
                "The endpoint must be a URL such as http://localhost:4318/v1/logs"
            )
        }
        guard batchCount >= 1, batchByteLimit >= 1024 else {
            throw LoggingError(
                .invalidArgument,
                "batchCount must be at least 1, and batchByteLimit at least 1 KiB"
            )
        }
    }
}

#endif
