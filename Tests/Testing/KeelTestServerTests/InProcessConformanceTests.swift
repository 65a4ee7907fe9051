import KeelConformance
import KeelHTTP
import KeelTestKit
import Testing

@Suite("An in-process network keeps every promise of a transport", .timeLimit(.minutes(1)))
struct InProcessConformanceTests {
    static let features = InProcessHTTPNetwork().transport().features

    private var subject: HTTPTransportSubject {
        let network = InProcessHTTPNetwork()
        return HTTPTransportSubject(network) { network.transport($0) }
    }

    @Test("A promise is kept", arguments: HTTPTransportCheck.applicable(to: features))
    func promises(_ check: HTTPTransportCheck) async throws { try await check.run(on: subject) }

    @Test("A fault has its one outcome", arguments: HTTPFaultCheck.applicable(to: features))
    func faults(_ check: HTTPFaultCheck) async throws { try await check.run(on: subject) }
}
