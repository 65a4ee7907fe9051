public import KeelHTTP
import KeelTestKit
public import Testing

/// A promise of `HTTPTransport` as a check for any transport.
///
/// Run all applicable checks as arguments, so that each is a line of its own in the log:
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
/// ``HTTPFaultCheck`` checks the errors of a transport.
public struct HTTPTransportCheck: Sendable, CustomTestStringConvertible {
    /// A group of checks.
    public enum Group: String, Sendable, Hashable, CaseIterable {
        /// Methods, targets and statuses.
        case exchange
        /// Request and response bodies.
        case bodies
        /// Header fields and trailers.
        case fields
        /// Behavior that a transport must not add.
        case restraint
        /// Concurrent exchanges, and connections.
        case connections
        /// Cancellation, dropped responses and shutdown.
        case endings
        /// TLS.
        case security
    }

    /// The check's group.
    public let group: Group
    /// The promise, as a sentence about the transport.
    public let promise: String
    /// The declared features that the promise requires.
    public let needs: HTTPTransportFeatures
    /// The other traits that the promise requires.
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

    /// Runs the check on a transport, recording an issue for each violation.
    ///
    /// - Throws: An error of the transport that the promise does not allow.
    public func run(on subject: HTTPTransportSubject) async throws {
        try await subject.run(script, body)
    }

    /// Returns whether the promise applies to a transport with these features and traits.
    public func applies(
        to features: HTTPTransportFeatures,
        _ traits: HTTPTransportTraits = .all
    ) -> Bool {
        features.isSuperset(of: needs) && traits.isSuperset(of: self.traits)
    }

    /// Returns the checks that apply to a transport with these features and traits.
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
