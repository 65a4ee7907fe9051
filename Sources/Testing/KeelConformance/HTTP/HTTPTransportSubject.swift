public import KeelHTTP
public import KeelTestKit

/// A factory of the transports that checks run on, with origins that they can reach.
public struct HTTPTransportSubject: Sendable {
    /// A closure that makes a transport that can reach an origin with this access.
    ///
    /// The transport is shut down after the check.
    public typealias Make = @Sendable (HTTPTestAccess) async throws -> any HTTPTransport

    /// The factory of the origins.
    public var origins: any HTTPTestOrigins

    /// Makes the transport of a check.
    public var makeTransport: Make

    /// The faults that the transport cannot distinguish from others, with the outcomes that it reports.
    ///
    /// The list must be exact: a listed fault that is reported precisely fails its check, as does one reported as
    /// `unknown`.
    public var conflations: [ServerFault: ServerFault.Outcome]

    /// The faults in ``conflations`` that depend on the timing of the bytes; they may be reported precisely as well.
    public var chancyConflations: Set<ServerFault>

    /// Creates a subject.
    ///
    /// - Parameters:
    ///   - origins: The factory of the origins: `FaultServerOrigins` of KeelTestServer, or `InProcessHTTPNetwork` of
    ///     KeelTestKit.
    ///   - conflations: The faults that the transport cannot distinguish from others.
    ///   - chancyConflations: The conflations that depend on timing.
    ///   - makeTransport: Makes a transport that can reach an origin with this access.
    public init(
        _ origins: any HTTPTestOrigins,
        conflations: [ServerFault: ServerFault.Outcome] = [:],
        chancyConflations: Set<ServerFault> = [],
        makeTransport: @escaping Make
    ) {
        self.origins = origins
        self.conflations = conflations
        self.chancyConflations = chancyConflations
        self.makeTransport = makeTransport
    }

    func run(
        _ script: HTTPTestScript,
        _ body: @escaping @Sendable (TransportUnderTest) async throws -> Void
    ) async throws {
        try await origins.run(script) { origin in
            let transport = try await makeTransport(origin.access)
            do {
                try await body(TransportUnderTest(transport: transport, origin: origin))
            } catch {
                await transport.shutdown()
                throw error
            }
            await transport.shutdown()
        }
    }
}

/// The traits of a transport beyond its declared features.
public struct HTTPTransportTraits: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// The transport can trust an additional authority.
    public static let customTrust = Self(rawValue: 1 << 0)
    /// The transport uses HTTP/2 if the server supports it.
    public static let http2 = Self(rawValue: 1 << 1)
    /// The transport reuses connections, distinguishes a stale connection from a lost one, and does not take bytes
    /// after a response for the next response.
    ///
    /// URLSession on Linux takes them for the next response.
    public static let connectionReuse = Self(rawValue: 1 << 2)
    /// The transport returns response fields in their original order and number.
    public static let exactFields = Self(rawValue: 1 << 3)
    /// The transport has a configurable connect timeout.
    public static let connectTimeout = Self(rawValue: 1 << 4)
    /// The transport never repeats a request on its own.
    ///
    /// URLSession does so on stale connections.
    public static let singleAttempt = Self(rawValue: 1 << 5)
    /// The transport applies back pressure to a server whose body is not read.
    ///
    /// URLSession on Linux reads ahead into memory.
    public static let backPressure = Self(rawValue: 1 << 6)

    /// All traits.
    public static let all: Self = [
        .customTrust, .http2, .connectionReuse, .exactFields, .connectTimeout, .singleAttempt,
        .backPressure,
    ]
}
