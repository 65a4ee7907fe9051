#if URLSession && TestServer
import KeelConformance
import KeelHTTP
import KeelTestServer
import Testing

@Suite(
    "URLSessionTransport keeps the promises of transports over real sockets",
    .timeLimit(.minutes(5))
)
struct URLSessionConformanceTests {
    static let features: HTTPTransportFeatures = []
    static let traits: HTTPTransportTraits = []

    /// Foundation 6.3 on Linux traps if a connection ends inside the first head ("Transfer completed, but there's no
    /// response"), which crashes the tests.
    static let fatal: Set<ServerFault> = [
        ServerFault("closes inside the head"), ServerFault("resets inside the head"),
    ]

    /// Foundation on Linux shows a head only together with the bytes after it, and does not show bytes followed by
    /// silence unless they arrive separately from the head.
    private static let early = ServerFault.Outcome(.responseTimeout, .awaitHead, .maybe)

    private let subject = HTTPTransportSubject(
        FaultServerOrigins(),
        conflations: [
            ServerFault("stalls after the head"): early,
            ServerFault("stalls inside the body"): early,
        ],
        chancyConflations: [
            ServerFault("stalls after the head"), ServerFault("stalls inside the body"),
        ]
    ) { _ in URLSessionTransport() }

    @Test("A promise is kept", arguments: HTTPTransportCheck.applicable(to: features, traits))
    func promises(_ check: HTTPTransportCheck) async throws { try await check.run(on: subject) }

    @Test(
        "A fault has its one outcome",
        arguments: HTTPFaultCheck.applicable(to: features, traits)
            .filter { !fatal.contains($0.fault) }
    )
    func faults(_ check: HTTPFaultCheck) async throws { try await check.run(on: subject) }
}
#endif
