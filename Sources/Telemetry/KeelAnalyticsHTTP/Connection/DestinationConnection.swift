public import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The transport, time limit and middleware with which destinations reach their servers.
///
/// Several destinations can share a connection. A destination never retries a request: the delivery decides when the
/// next one follows.
public struct DestinationConnection: Sendable {
    /// The transport for requests, shut down by its creator.
    public var transport: any HTTPTransport

    /// The time limit for a request, from its start to the last byte of the response.
    public var timeout: Duration = .seconds(60)

    /// Whether bodies of 1 KiB or more are compressed if the vendor accepts gzip.
    public var compressesBodies = true

    /// The middleware for every request, outermost first, for observation, a circuit breaker or a rate limit, but not
    /// for retries.
    public var middleware: [any HTTPMiddleware] = []

    /// The clock for ``timeout``.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// Returns the time, for the sending time of batches and the age of records.
    public var now: @Sendable () -> Date = { Date() }

    /// Creates a connection with default limits.
    public init(transport: any HTTPTransport) {
        self.transport = transport
    }
}

extension URL {
    static func literal(_ text: StaticString) -> URL {
        guard let url = URL(string: "\(text)") else { preconditionFailure("The URL is invalid.") }
        return url
    }
}
