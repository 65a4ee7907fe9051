import KeelCore
import KeelSecrets
import Testing

@Suite("Secret errors")
struct SecretErrorTests {
    @Test("Every code has a unique name and advice", arguments: SecretError.Code.known)
    func advice(_ code: SecretError.Code) {
        #expect(SecretError.Code.known.filter { $0 == code }.count == 1)
        #expect(code.advice.hasSuffix("."))
        let error = SecretError(code, "It failed.")
        #expect(error.recoverySuggestion == code.advice)
        #expect(error.description == "\(code.name): It failed.")
    }

    @Test("The platform's status is part of the description")
    func status() {
        let status = SecretStoreStatus(domain: "OSStatus", number: -25_308)
        let error = SecretError(.locked, "The keychain is locked.", cause: status)
        #expect(error.description.hasSuffix("(cause: OSStatus -25308)"))
    }

    @Test("An expectation does not reveal its bytes")
    func expectation() {
        let expectation = SecretExpectation.bytes(Array("pl4nted".utf8))
        var dumped = ""
        dump(expectation, to: &dumped)
        #expect("\(expectation)\(dumped)".contains("112") == false)
        #expect("\(expectation)" == "bytes")
    }
}
