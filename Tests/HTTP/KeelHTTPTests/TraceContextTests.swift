import HTTPTypes
import KeelHTTP
import KeelTestKit
import Testing

@Suite("Trace context")
struct TraceContextTests {
    static let valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test(
        "A parent is parsed as the recommendation requires",
        arguments: [
            (valid, true),
            ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-may-come", true),
            ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", true),
            ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.x", false),
            ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-", false),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x", false),
            ("00-00000000000000000000000000000000-b7ad6b7169203331-01", false),
            ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false),
            ("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", false),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0", false),
            ("00-0af7651916cd43dd8448eb211c80319c.b7ad6b7169203331-01", false),
            (".0-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
            ("", false),
        ]
    )
    func parents(text: String, isValid: Bool) {
        #expect((TraceContext(parent: text) != nil) == isValid)
    }

    @Test(
        "A child inherits only the parent's flags that version 00 defines",
        arguments: [("00", "00"), ("01", "01"), ("02", "02"), ("03", "03"), ("ff", "03")]
    )
    func flags(sent: String, passedOn: String) throws {
        let parent = try #require(TraceContext(parent: "\(Self.valid.dropLast(2))\(sent)"))
        var random = SeededRandom(seed: 1)
        let child = parent.child(using: &random)
        #expect(child.parent.hasSuffix("-\(passedOn)"))
        #expect(child.isSampled == (passedOn == "01" || passedOn == "03"))
        #expect(child.isRandom == (passedOn == "02" || passedOn == "03"))
    }

    @Test("A new trace marks its identifier as random")
    func random() {
        var random = SeededRandom(seed: 1)
        #expect(TraceContext(using: &random).parent.hasSuffix("-02"))
        #expect(TraceContext(isSampled: true, using: &random).parent.hasSuffix("-03"))
    }

    @Test(
        "A state is kept only if all of it is valid",
        arguments: [
            (["foo=1,bar=2"], "foo=1,bar=2"),
            (["foo=1", " bar=2 \t"], "foo=1,bar=2"),
            (["foo=1,,bar=2,"], "foo=1,bar=2"),
            (["0a@vendor=x y"], "0a@vendor=x y"),
            (["foo=1,foo=2"], nil),
            (["Foo=1"], nil),
            (["foo=1=2"], nil),
            (["foo"], nil),
            (["0foo=1"], nil),
            (["a@toolongvendorxx=1"], nil),
            (["foo="], nil),
            ([], nil),
        ] as [([String], String?)]
    )
    func states(values: [String], expected: String?) throws {
        let context = try #require(TraceContext(parent: Self.valid, states: values))
        #expect(context.state == expected)
    }

    @Test("A state has at most 32 members")
    func memberLimit() throws {
        let members = (1...33).map { "a\($0)=1" }
        let full = members.dropLast().joined(separator: ",")
        #expect(TraceContext(parent: Self.valid, states: [full])?.state == full)
        #expect(TraceContext(parent: Self.valid, states: [full, members[32]])?.state == nil)
    }

    @Test("Requests continue their trace or begin a new one")
    func propagation() async throws {
        let transport = ScriptedHTTPTransport([.status(.ok), .status(.ok), .status(.ok)])
        let chain = transport.chain([TraceContextPropagation(), TraceContextPropagation()])
        var head = HTTPRequest(method: .get, scheme: "https", authority: "example.org", path: "/")
        _ = try await chain(HTTPCall(head))
        let begun = try #require(transport.calls[0].head.traceContext)
        #expect(!begun.isSampled)

        head.headerFields[.traceParent] = Self.valid
        head.headerFields[.traceState] = "foo=1"
        _ = try await chain(HTTPCall(head))
        let carried = try #require(transport.calls[1].head.traceContext)
        #expect(carried.parent.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-"))
        #expect(carried.parent != Self.valid)
        #expect(carried.isSampled)
        #expect(carried.state == "foo=1")

        let closed = transport.chain([TraceContextPropagation { _ in false }])
        _ = try await closed(HTTPCall(head))
        #expect(transport.calls[2].head.headerFields[.traceParent] == nil)
        #expect(transport.calls[2].head.headerFields[.traceState] == nil)
    }
}
