#if URLSession && TestServer && !canImport(Darwin)
import KeelConformance
import KeelHTTP
import KeelTestKit
import KeelTestServer
import Testing

/// What Foundation's URLSession on Linux can keep of the promises; the rest is listed by name.
@Suite(
    "URLSessionTransport on Linux keeps the promises of transports that it can keep",
    .timeLimit(.minutes(5)),
    .serialized
)
struct URLSessionConformanceTests {
    private var subject: HTTPTransportSubject {
        HTTPTransportSubject(FaultServerOrigins()) { _ in URLSessionTransport() }
    }

    @Test("A promise", arguments: HTTPTransportCheck.applicable(to: [], []))
    func promises(_ check: HTTPTransportCheck) async throws {
        try await check.run(on: subject)
    }
}
#endif
