import HTTPTypes
import KeelServing
import KeelStorage
import KeelStorageFirestore
import Testing

/// The meaning of protocol forms that Keel's types represent differently, or not at all.
@Suite("Semantics of requests")
struct WireMeaningTests {
    private let served = Served()

    private func names(_ query: String) async throws -> [String]? {
        let answer = try await served.send(.post, ":runQuery", #"{"structuredQuery":\#(query)}"#)
        guard answer.status == 200 else { return nil }
        let prefix = Served.name("")
        return answer.json.elements?.compactMap { $0["document"]?["name"]?.text }
            .map { String($0.dropFirst(prefix.count)) }
    }

    private func filtered(_ operation: String, _ value: String) async throws -> [String]? {
        try await names(
            #"""
            {"from":[{"collectionId":"a"}],"where":{"fieldFilter":{
              "field":{"fieldPath":"v"},"op":"\#(operation)","value":\#(value)}}}
            """#
        )
    }

    private func put(_ path: String, _ fields: String) async throws {
        let answer = try await served.send(.patch, "/\(path)", #"{"fields":\#(fields)}"#)
        #expect(answer.status == 200)
    }

    private func commit(_ write: String) async throws -> Served.Answer {
        try await served.send(.post, ":commit", #"{"writes":[\#(write)]}"#)
    }

    @Test("Equality operators match neither null nor NaN, unary operators do")
    func equality() async throws {
        try await put("a/null", #"{"v":{"nullValue":null}}"#)
        try await put("a/nan", #"{"v":{"doubleValue":"NaN"}}"#)
        try await put("a/one", #"{"v":{"integerValue":"1"}}"#)
        let (null, nan) = (#"{"nullValue":null}"#, #"{"doubleValue":"NaN"}"#)
        for value in [null, nan] {
            #expect(try await filtered("EQUAL", value) == [])
            #expect(try await filtered("LESS_THAN_OR_EQUAL", value) == [])
            #expect(try await filtered("ARRAY_CONTAINS", value) == [])
        }
        #expect(try await filtered("NOT_EQUAL", null) == [])
        #expect(try await filtered("NOT_EQUAL", nan) == ["a/nan", "a/one"])
        for (name, found) in [
            ("IS_NULL", ["a/null"]), ("IS_NAN", ["a/nan"]), ("IS_NOT_NULL", ["a/nan", "a/one"]),
            ("IS_NOT_NAN", ["a/one"]),
        ] {
            let query = #"""
                {"from":[{"collectionId":"a"}],"where":{"unaryFilter":{
                  "op":"\#(name)","field":{"fieldPath":"v"}}}}
                """#
            #expect(try await names(query) == found, "\(name)")
        }
    }

    @Test(
        "A field name needs backticks unless it has only letters, digits and underscores",
        arguments: [
            ("v", true), ("_v1.w", true), ("`v`.`w-x`", true), (#"`a\`b`"#, true),
            ("m.`__type__`", true), ("v-w", false), ("1v", false), ("\u{e9}", false),
            ("a..b", false), ("a.", false), ("`a", false), ("``", false), ("`a`b", false),
            ("", false), ("m.`__x__`", false),
        ]
    )
    func fieldPaths(path: String, isGood: Bool) async throws {
        let escaped = path.replacing("\\", with: "\\\\")
        let query = #"""
            {"from":[{"collectionId":"a"}],"orderBy":[{"field":{"fieldPath":"\#(escaped)"}}]}
            """#
        #expect(try await names(query) == (isGood ? [] : nil))
    }

    @Test("A query without a selector or collection finds the documents directly below")
    func noSelector() async throws {
        for path in ["a/1", "a/1/b/2", "c/3"] { try await served.set(path, n: 1) }
        #expect(try await names("{}") == ["a/1", "c/3"])
        #expect(try await names(#"{"from":[{}]}"#) == ["a/1", "c/3"])
        let all = try await names(#"{"from":[{"allDescendants":true}]}"#)
        #expect(all == ["a/1", "a/1/b/2", "c/3"])
        let order = #"[{"field":{"fieldPath":"__name__"},"direction":"DESCENDING"}]"#
        #expect(try await names(#"{"orderBy":\#(order)}"#) == nil)
        #expect(try await names(#"{"from":[{}],"orderBy":\#(order)}"#) == ["c/3", "a/1"])
    }

    @Test("A mask may contain a map and its field, and transforms apply after it")
    func masks() async throws {
        try await put("a/1", #"{"m":{"mapValue":{"fields":{"n":{"integerValue":"5"}}}}}"#)
        let answer = try await commit(
            #"""
            {"update":{"name":"\#(Served.name("a/1"))","fields":{"m":{"mapValue":{"fields":{
                "p":{"integerValue":"1"}}}}}},
              "updateMask":{"fieldPaths":["m.p","m","m.gone","m"]},
              "updateTransforms":[{"fieldPath":"m.n","increment":{"integerValue":"2"}}]}
            """#
        )
        #expect(answer.status == 200)
        let document = try await served.send(.get, "/a/1")
        let fields = document.json["fields"]?["m"]?["mapValue"]?["fields"]
        #expect(fields?["n"] == ["integerValue": "2"])
        #expect(fields?["p"] == ["integerValue": "1"])
        #expect(fields?.members?.count == 2)
    }

    @Test("An empty merge checks that the document exists or creates an empty one")
    func emptyMasks() async throws {
        func merge(_ path: String, _ condition: String) -> String {
            #"""
            {"update":{"name":"\#(Served.name(path))"},"updateMask":{"fieldPaths":[]},
              "currentDocument":\#(condition)}
            """#
        }
        try await served.set("a/1", n: 1)
        let before = try await served.send(.get, "/a/1").json
        #expect(try await commit(merge("a/1", #"{"exists":true}"#)).status == 200)
        #expect(try await served.send(.get, "/a/1").json == before)
        #expect(try await commit(merge("a/2", #"{"exists":true}"#)).error == "NOT_FOUND")
        #expect(try await commit(merge("a/2", #"{"exists":false}"#)).status == 200)
        #expect(try await served.send(.get, "/a/2").status == 200)
    }

    @Test("Deletions with masks or transforms and condition times with nanoseconds are rejected")
    func refusals() async throws {
        try await served.set("a/1", n: 1)
        let name = Served.name("a/1")
        for write in [
            #"{"delete":"\#(name)","updateMask":{"fieldPaths":["n"]}}"#,
            #"{"delete":"\#(name)","updateTransforms":[{"fieldPath":"n","increment":{"integerValue":"1"}}]}"#,
            #"{"delete":"\#(name)","currentDocument":{"updateTime":"2026-01-01T00:00:00.000000001Z"}}"#,
        ] {
            #expect(try await commit(write).error == "INVALID_ARGUMENT", "\(write)")
        }
        #expect(try await served.send(.get, "/a/1").status == 200)
    }
}
