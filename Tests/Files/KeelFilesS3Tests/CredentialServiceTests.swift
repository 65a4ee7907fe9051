#if Crypto
import Foundation
import KeelFiles
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelFilesS3

@Suite("Services of credentials", .timeLimit(.minutes(1)))
struct CredentialServiceTests {
    @Test(
        "A metadata service without a complete answer within a second counts as missing",
        arguments: [
            ScriptedHTTPTransport.Answer.stall, .stallingBody(after: [Array("token".utf8)]),
        ]
    )
    func silence(_ answer: ScriptedHTTPTransport.Answer) async {
        let clock = TestClock()
        let chain = AWSCredentialsChain(
            .init(environment: ["HOME": "/nonexistent"]),
            transport: ScriptedHTTPTransport(then: answer),
            clock: clock,
            now: { Date.now }
        )
        let call = Task { try await chain.credentials() }
        await clock.waitForSleepers()
        await clock.advance(by: .seconds(1))
        await expectError(FileStoreError.self, .credentialsMissing) { try await call.value }
    }
}
#endif
