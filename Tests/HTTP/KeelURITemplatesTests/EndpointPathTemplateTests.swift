import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import KeelURITemplates
import Testing

@Suite("Paths from URI templates")
struct EndpointPathTemplateTests {
    private struct Templated: ServiceEndpoint {
        var template: String
        var values: [String: URITemplate.Value]
        var query: HTTPQuery = [:]
        var path: EndpointPath { EndpointPath(template: template, values) }
    }

    private func target(_ endpoint: Templated) async throws -> String? {
        let transport = ScriptedHTTPTransport([.status(.ok)])
        let client = try makeClient(transport)
        _ = try await client.request(endpoint, as: EmptyResponse.self)
        return transport.calls.first?.head.path
    }

    @Test("The template's query precedes the endpoint's query")
    func joinsQueries() async throws {
        let endpoint = Templated(
            template: "/users/{id}{?fields*}",
            values: ["id": "a/b", "fields": ["name", "born at"]],
            query: ["page": "2"]
        )
        #expect(try await target(endpoint) == "/v1/users/a%2Fb?fields=name&fields=born%20at&page=2")
    }

    @Test(
        "A template's query and expressions are split and expanded correctly",
        arguments: [
            ("/x?fixed=1{&q}", "/v1/x?fixed=1&q=a%26b"),
            ("/x?q={q}&z={missing}", "/v1/x?q=a%26b&z="),
            ("/x{?missing}{&q}", "/v1/x?q=a%26b"), ("/x{?q}&lang=de", "/v1/x?q=a%26b&lang=de"),
            ("/x{?missing}", "/v1/x"), ("/x?q={+raw}", "/v1/x?q=a&b=c?/d"),
            ("/x{/missing}{.missing}{;missing}", "/v1/x"), ("/x{;q,none}", "/v1/x;q=a%26b;none"),
            ("/files/{+deep}", "/v1/files/a/b%20c"), ("/x{/list*}{.ext}", "/v1/x/1/2.json"),
        ]
    )
    func splitsQueries(template: String, expected: String) async throws {
        let values: [String: URITemplate.Value] = [
            "q": "a&b", "raw": "a&b=c?/d", "deep": "a/b c", "none": "", "list": ["1", "2"],
            "ext": "json",
        ]
        #expect(try await target(Templated(template: template, values: values)) == expected)
    }

    @Test(
        "A path that would address another resource is rejected before anything is sent",
        arguments: [
            ("/users/{missing}", "missing"), ("/users/{none}", "none"), ("/users{/none}", "none"),
            ("/x{/gap*}", "gap"), ("/users/{dots}", "dots"), ("/x{/dots}/y", "dots"),
            ("/x/{+climb}", "dots"), ("/x/{+hidden}", "dots"), ("/x/{+asks}", "question"),
            ("/x?a={+marks}", "question"), ("/x#top", "fragment"), ("/x{#none}", "fragment"),
            ("/x/{id", "brace"), ("/{list:2}", "prefix"), ("/..{/id}", "dots"),
            ("/x/.{.}", "byte"), ("/x/{.dot}", "dots"),
        ]
    )
    func refuses(template: String, word: String) async throws {
        let transport = ScriptedHTTPTransport()
        let client = try makeClient(transport)
        let values: [String: URITemplate.Value] = [
            "none": "", "dots": "..", "climb": "a/../b", "hidden": "%2E%2e", "asks": "a?b",
            "marks": "a#b", "list": ["1"], "id": "s3cret", "gap": ["a", ""], "dot": ".",
        ]
        let error = await expectError(NetworkError.self, .invalidURL) {
            try await client.delete(EndpointPath(template: template, values))
        }
        #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
        #expect(error?.description.contains("s3cret") == false)
        #expect(transport.calls.isEmpty)
    }

    @Test("A parsed template gives the same path as its text")
    func takesParsedTemplates() throws {
        let template = try URITemplate("/users/{id}")
        let path = EndpointPath(template: template, ["id": "7"])
        #expect(path == EndpointPath(template: "/users/{id}", ["id": 7]))
    }
}
