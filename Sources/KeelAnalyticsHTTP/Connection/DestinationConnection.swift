public import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How a destination reaches its server.
///
/// One connection serves several destinations. A destination never repeats a request of its own
/// accord: it says what became of the request, and the delivery decides when the next one follows.
public struct DestinationConnection: Sendable {
    /// What carries the requests; shutting it down is up to who made it.
    public var transport: any HTTPTransport

    /// The total time for one request, from its start to the last byte of the answer.
    public var timeout: Duration = .seconds(60)

    /// Whether bodies of 1 KiB and more are compressed where the vendor takes gzip.
    public var isCompressing = true

    /// The layers that every request passes, the first one outermost.
    ///
    /// Observation, a circuit breaker or a limit on the rate belong here, but no layer that
    /// repeats requests.
    public var middleware: [any HTTPMiddleware] = []

    /// The clock that ``timeout`` is measured on.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// The time, for when a batch was sent and for how old its records are.
    public var now: @Sendable () -> Date = { Date() }

    /// Creates a connection with the usual limits.
    public init(transport: any HTTPTransport) {
        self.transport = transport
    }
}

extension URL {
    /// An address that is written in the source.
    static func literal(_ text: StaticString) -> URL {
        guard let url = URL(string: "\(text)") else { preconditionFailure("It is an address.") }
        return url
    }
}
