import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import Testing

@Suite("Redaction of requests and responses")
struct HTTPRedactionTests {
    @Test("Values of sensitive fields and secrets in other fields are redacted")
    func fields() throws {
        let note = try #require(HTTPField.Name("X-Note"))
        let key = try #require(HTTPField.Name("X-Api-Key"))
        let fields: HTTPFields = [
            .authorization: "Digest username=\"a\"", .cookie: "a=b", key: "k", .accept: "*/*",
            .referer: "https://u:p@example.org/a?q=1", note: "of ada@example.org",
            .userAgent: "Keel/1.2.3.4",
        ]
        let redacted = Redactor.standard.redact(fields)
        #expect(redacted[.authorization] == "<redacted>")
        #expect(redacted[.cookie] == "<redacted>")
        #expect(redacted[key] == "<redacted>")
        #expect(redacted[.accept] == "*/*")
        #expect(redacted[.referer] == "https://example.org/a?q=redacted")
        #expect(redacted[note] == "of <redacted>")
        #expect(redacted[.userAgent] == "Keel/1.2.3.4")
    }

    @Test("Only bodies of known types are shown, redacted")
    func bodies() {
        func shown(_ body: String, _ type: String?) -> String? {
            Redactor.standard.redactBody(Array(body.utf8), contentType: type)
                .map { String(decoding: $0, as: UTF8.self) }
        }
        let problem = shown(#"{"pin":1}"#, "application/problem+json; charset=utf-8")
        #expect(problem == #"{"pin":"<redacted>"}"#)
        #expect(shown("pin=1&a=2", "application/x-www-form-urlencoded") == "pin=redacted&a=2")
        #expect(shown("pin: 1", "text/plain") == "pin: <redacted>")
        #expect(shown("<pin>1</pin>", "application/xml") == nil)
        #expect(shown("x", nil) == nil)
    }

    @Test("User information and query values are removed from a request head")
    func head() {
        let head = HTTPRequest("https://u:p@example.org:1/a/ada@example.org?x=1")
        let redacted = Redactor.standard.redact(head)
        #expect(redacted.authority == "example.org:1")
        #expect(redacted.path == "/a/redacted?x=redacted")
    }

    @Test("The targets of failures, and of the failures that caused them, are redacted")
    func failures() {
        let url = "https://example.org/invite/ada@example.org"
        let lost = TransportError(.connectionLost, url: url)
        let unavailable = NetworkError(.unavailable, url: url, cause: lost)
        let expired = AuthenticationError(.refreshFailed, cause: unavailable)
        let error = TransportError(.credentialsUnavailable, url: url, cause: expired)
        for kind in [HTTPEvent.Kind.attemptFailed(error), .failed(error)] {
            let event = HTTPEvent(call: HTTPCallID(1), attempt: 1, elapsed: .zero, kind: kind)
            switch event.redacted(by: .standard).kind {
            case .attemptFailed(let shown), .failed(let shown):
                let cause = (shown.cause as? AuthenticationError)?.cause as? NetworkError
                let targets = [shown.url, cause?.url, cause?.transportError?.url]
                let expected: String? = "https://example.org/invite/redacted"
                #expect(targets == [expected, expected, expected])
            default: Issue.record("The kind has changed.")
            }
        }
    }
}
