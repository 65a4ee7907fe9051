public import KeelHTTP
public import KeelTestKit

/// A kind of transport that checks are run on, with origins that it can reach.
public struct HTTPTransportSubject: Sendable {
    /// Makes a transport that can reach an origin with this access; it is shut down after the check.
    public typealias Make = @Sendable (HTTPTestAccess) async throws -> any HTTPTransport

    /// Where the origins come from.
    public var origins: any HTTPTestOrigins

    /// Makes the transport of a check.
    public var makeTransport: Make

    /// The faults that this transport cannot tell from others, and what it takes them for.
    ///
    /// The list has to be true: a fault in it that is told exactly fails its check, and so does
    /// one that is told as `unknown`.
    public var conflations: [HTTPFault: HTTPFault.Outcome]

    /// Of ``conflations``, those that depend on how the bytes happen to arrive: these may be told
    /// exactly too.
    public var chancyConflations: Set<HTTPFault>

    /// Creates a subject.
    ///
    /// - Parameters:
    ///   - origins: Where the origins come from: `FaultServerOrigins` of KeelTestServer, or
    ///     `InProcessHTTPNetwork` of KeelTestKit.
    ///   - conflations: The faults that the transport cannot tell from others.
    ///   - chancyConflations: Of these, those that it can tell at times.
    ///   - makeTransport: Makes a transport that can reach an origin with this access.
    public init(
        _ origins: any HTTPTestOrigins,
        conflations: [HTTPFault: HTTPFault.Outcome] = [:],
        chancyConflations: Set<HTTPFault> = [],
        makeTransport: @escaping Make
    ) {
        self.origins = origins
        self.conflations = conflations
        self.chancyConflations = chancyConflations
        self.makeTransport = makeTransport
    }

    /// Runs a check on a transport and an origin of its own.
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

/// What a transport must be able to do for a check to concern it, beyond its declared features.
public struct HTTPTransportTraits: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// It can be told to trust an authority.
    public static let customTrust = Self(rawValue: 1 << 0)
    /// It speaks HTTP/2 where the server does.
    public static let http2 = Self(rawValue: 1 << 1)
    /// It keeps connections and uses them again, tells a stale one from a lost one, and takes nothing
    /// that follows a response for the next one.
    ///
    /// URLSession on Linux takes it for the next one.
    public static let connectionReuse = Self(rawValue: 1 << 2)
    /// It gives response fields in the order and number in which they came.
    public static let exactFields = Self(rawValue: 1 << 3)
    /// It can be told how long a connection may take to open.
    public static let connectTimeout = Self(rawValue: 1 << 4)
    /// It never repeats a request by itself.
    ///
    /// URLSession does, on connections that have gone stale.
    public static let singleAttempt = Self(rawValue: 1 << 5)
    /// It holds a server back whose body nobody reads.
    ///
    /// URLSession on Linux reads ahead into memory.
    public static let backPressure = Self(rawValue: 1 << 6)

    /// All of them.
    public static let all: Self = [
        .customTrust, .http2, .connectionReuse, .exactFields, .connectTimeout, .singleAttempt,
        .backPressure,
    ]
}
