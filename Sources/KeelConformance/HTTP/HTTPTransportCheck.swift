public import KeelHTTP
import KeelTestKit
public import Testing

/// One promise of `HTTPTransport`, as a check that any transport can be put to.
///
/// Run all that concern the transport, so that each promise is a line of its own in the log:
///
/// ```swift
/// static let subject = HTTPTransportSubject(FaultServerOrigins()) { access in
///     try MyTransport(access)
/// }
///
/// @Test(arguments: HTTPTransportCheck.applicable(to: MyTransport.features))
/// func keepsItsPromises(_ check: HTTPTransportCheck) async throws {
///     try await check.run(on: Self.subject)
/// }
/// ```
///
/// What becomes of a transport's failures is checked by ``HTTPFaultCheck``.
public struct HTTPTransportCheck: Sendable, CustomTestStringConvertible {
    /// A group of checks.
    public enum Group: String, Sendable, Hashable, CaseIterable {
        /// Methods, targets and statuses.
        case exchange
        /// Request and response bodies.
        case bodies
        /// Header fields and trailers.
        case fields
        /// What a transport leaves alone.
        case restraint
        /// Many exchanges at a time, and connections.
        case connections
        /// Cancelling, dropping and shutting down.
        case endings
        /// TLS.
        case security
    }

    /// The check's group.
    public let group: Group
    /// The promise, as a sentence about the transport.
    public let promise: String
    /// What a transport must declare for the promise to concern it.
    public let needs: HTTPTransportFeatures
    /// What a transport must be able to do beyond that.
    public let traits: HTTPTransportTraits

    private let script: HTTPTestScript
    private let body: @Sendable (TransportUnderTest) async throws -> Void

    init(
        _ group: Group,
        _ promise: String,
        needs: HTTPTransportFeatures = [],
        traits: HTTPTransportTraits = [],
        on script: HTTPTestScript = HTTPTestScript(),
        _ body: @escaping @Sendable (TransportUnderTest) async throws -> Void
    ) {
        self.group = group
        self.promise = promise
        self.needs = needs
        self.traits = traits
        self.script = script
        self.body = body
    }

    /// The group and the promise.
    public var testDescription: String { "\(group): \(promise)" }

    /// Puts a transport to the check, recording an issue with the current test for each violation.
    ///
    /// - Throws: What the transport throws where the promise leaves it no reason to.
    public func run(on subject: HTTPTransportSubject) async throws {
        try await subject.run(script, body)
    }

    /// Whether the promise concerns such a transport.
    public func applies(
        to features: HTTPTransportFeatures,
        _ traits: HTTPTransportTraits = .all
    ) -> Bool {
        features.isSuperset(of: needs) && traits.isSuperset(of: self.traits)
    }

    /// The checks that concern such a transport.
    public static func applicable(
        to features: HTTPTransportFeatures,
        _ traits: HTTPTransportTraits = .all
    ) -> [Self] {
        all.filter { $0.applies(to: features, traits) }
    }

    /// Every check.
    public static let all: [Self] = [
        exchange, bodies, fields, restraint, connections, endings, security,
    ].flatMap { $0 }
}
