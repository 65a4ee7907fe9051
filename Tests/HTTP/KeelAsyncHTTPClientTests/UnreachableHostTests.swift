#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import Foundation
import KeelHTTP
import NIOCore
import Testing

@testable import KeelAsyncHTTPClient

@Suite("Hosts that become unreachable")
struct UnreachableHostTests {
    @Test(
        "On an established connection, the request may have arrived",
        arguments: [EHOSTUNREACH, ENETUNREACH, ENETDOWN, EHOSTDOWN],
        [TransportError.Phase.awaitHead, .readBody]
    )
    func established(_ number: CInt, _ phase: TransportError.Phase) {
        let cause = IOError(errnoCode: number, reason: "read")
        let error = TransportError(fromAsyncHTTPClient: cause, during: phase)
        #expect(error.code == .connectionLost)
        #expect(error.phase == phase)
        #expect(error.processed != .no)
    }

    @Test("While connecting, nothing has been sent")
    func connecting() {
        let cause = IOError(errnoCode: EHOSTUNREACH, reason: "connect")
        let error = TransportError(fromAsyncHTTPClient: cause, during: .connect)
        #expect(error.code == .offline)
        #expect(error.processed == .no)
    }
}
#endif
