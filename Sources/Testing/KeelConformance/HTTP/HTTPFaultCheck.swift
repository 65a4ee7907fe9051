import HTTPTypes
public import KeelHTTP
import KeelTestKit
public import Testing

/// A row of the fault matrix: a fault and the required outcome.
///
/// ```swift
/// @Test(arguments: HTTPFaultCheck.applicable(to: MyTransport.features))
/// func tellsFaults(_ check: HTTPFaultCheck) async throws {
///     try await check.run(on: Self.subject)
/// }
/// ```
///
/// No row allows the code `unknown`. ``HTTPTransportSubject/conflations`` lists the faults that a platform's library
/// cannot distinguish.
public struct HTTPFaultCheck: Sendable, CustomTestStringConvertible {
    /// The fault.
    public let fault: ServerFault
    /// The required outcome.
    public let outcome: ServerFault.Outcome
    /// The declared features that the fault requires.
    public let needs: HTTPTransportFeatures
    /// The other traits that the fault requires.
    public let traits: HTTPTransportTraits

    private let script: HTTPTestScript
    private let provoke: @Sendable (TransportUnderTest) async throws -> TransportError?

    init(
        _ fault: ServerFault,
        _ outcome: ServerFault.Outcome,
        needs: HTTPTransportFeatures = [],
        traits: HTTPTransportTraits = [],
        on script: HTTPTestScript = HTTPTestScript(),
        _ provoke: @escaping @Sendable (TransportUnderTest) async throws -> TransportError?
    ) {
        self.fault = fault
        self.outcome = outcome
        self.needs = needs
        self.traits = traits
        self.script = script
        self.provoke = provoke
    }

    /// The fault and its outcome.
    public var testDescription: String { "\(fault) → \(outcome)" }

    /// Provokes the fault, recording an issue for a different outcome.
    ///
    /// - Throws: The error that prevents the fault.
    public func run(on subject: HTTPTransportSubject) async throws {
        try await subject.run(script) { transport in
            let error = try await provoke(transport)
            guard let error else {
                Issue.record("\(fault): the exchange succeeded")
                return
            }
            let isExact = outcome.fits(error)
            if !isExact || !subject.chancyConflations.contains(fault) {
                let expected = subject.conflations[fault] ?? outcome
                #expect(expected.fits(error), "expected \(expected), got \(error)")
                if subject.conflations[fault] != nil {
                    #expect(
                        !isExact,
                        "reported exactly: remove it from the list of conflated faults"
                    )
                }
            }
            #expect(error.code != .unknown, "\(error)")
            #expect(!error.description.contains("s3cret"), "the query is in the description")
            #expect(error.url?.contains("s3cret") != true, "the query is in the address")
        }
    }

    /// Returns the rows that apply to a transport with these features and traits.
    public static func applicable(
        to features: HTTPTransportFeatures,
        _ traits: HTTPTransportTraits = .all
    ) -> [Self] {
        all.filter { features.isSuperset(of: $0.needs) && traits.isSuperset(of: $0.traits) }
    }

    /// Every row.
    public static let all: [Self] = [
        plainFaults, secureFaults, streamFaults, ownFaults,
    ].flatMap { $0 }
}
