import HTTPTypes
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import Testing

@testable import KeelServing

@Suite("Fuzzed requests")
struct ServingFuzzTests {
    private static let places = [
        ":commit", ":batchWrite", ":batchGet", ":runQuery", ":runAggregationQuery",
        ":beginTransaction", ":rollback", ":listCollectionIds", ":partitionQuery", "/a/1:runQuery",
        "/a", "/a/1",
    ]

    private static let name = Served.name("a/1")

    /// Bodies that are each valid for one of the methods.
    private static let bodies: [String] = [
        #"""
        {"writes":[{"update":{"name":"\#(name)","fields":{"a":{"integerValue":"1"},
        "b":{"mapValue":{"fields":{"c":{"arrayValue":{"values":[{"doubleValue":1.5},
        {"nullValue":null},{"timestampValue":"2026-01-01T00:00:00Z"}]}}}}}}},
        "updateMask":{"fieldPaths":["a","b.c"]},"currentDocument":{"exists":true}}]}
        """#,
        #"""
        {"writes":[{"delete":"\#(name)"},{"verify":"\#(name)"}],"keel":{"batchId":"x",
        "reads":{"documents":[{"name":"\#(name)","revision":"5"}]}}}
        """#,
        #"""
        {"writes":[{"update":{"name":"\#(name)","fields":{}},
        "updateTransforms":[{"fieldPath":"n",
        "increment":{"integerValue":"9223372036854775807"}},{"fieldPath":"t",
        "setToServerValue":1}]}]}
        """#,
        #"""
        {"documents":["\#(name)"],"mask":{"fieldPaths":["a"]},
        "newTransaction":{"readWrite":{}}}
        """#,
        #"""
        {"structuredQuery":{"from":[{"collectionId":"a","allDescendants":true}],
        "where":{"compositeFilter":{"op":1,
        "filters":[{"fieldFilter":{"field":{"fieldPath":"n"},"op":5,
        "value":{"integerValue":1}}},{"unaryFilter":{"op":2,"field":{"fieldPath":"m"}}}]}},
        "orderBy":[{"field":{"fieldPath":"n"},"direction":2}],
        "startAt":{"values":[{"integerValue":"1"}],"before":true},"limit":10,"offset":2,
        "select":{"fields":[{"fieldPath":"n"}]}}}
        """#,
        #"""
        {"structuredAggregationQuery":{"structuredQuery":{"from":[{"collectionId":"a"}]},
        "aggregations":[{"alias":"x","count":{"upTo":"5"}},
        {"sum":{"field":{"fieldPath":"n"}}}]},"keel":{"position":true,"strict":true}}
        """#,
        #"{"options":{"readOnly":{}},"transaction":"a2VlbC10cmFuc2FjdGlvbi14"}"#,
        #"{"pageSize":3,"pageToken":"ImEi"}"#,
        #"""
        {"name":"\#(name)","fields":{"a":{"bytesValue":"AAAA"},
        "g":{"geoPointValue":{"latitude":1,"longitude":2}},
        "v":{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},
        "value":{"arrayValue":{"values":[{"doubleValue":0.5}]}}}}},
        "r":{"referenceValue":"\#(name)"}}}
        """#,
    ]

    private static let odd: [FirestoreJSON] = [
        .null, true, .integer(-1), .integer(.max), .integer(.min), .number(1e300), .number(-0.5),
        "", "x",
        "9223372036854775808", "-1", "NaN", "__a__", "a//b", "..",
        "projects/p/databases/(default)/documents",
        "2026-13-40T99:99:99Z", "9999-12-31T23:59:59Z", "`", "a..b", "\u{0}", .array([]),
        .object([]), [["x"]],
        ["values": [.object([])]], .string(String(repeating: "é", count: 2000)),
    ]

    /// Replaces, removes or duplicates a part of a value.
    private static func mutate(
        _ json: FirestoreJSON,
        _ random: inout SeededRandom
    ) -> FirestoreJSON {
        switch json {
        case .object(var members)
        where !members.isEmpty && Int.random(in: 0..<6, using: &random) > 0:
            let index = Int.random(in: 0..<members.count, using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0: members.remove(at: index)
            case 1: members.append(.init("unknown", odd.randomElement(using: &random) ?? .null))
            case 2: members[index] = .init(members[members.count - 1].name, members[index].value)
            default: members[index].value = mutate(members[index].value, &random)
            }
            return .object(members)
        case .array(var elements)
        where !elements.isEmpty && Int.random(in: 0..<6, using: &random) > 0:
            let index = Int.random(in: 0..<elements.count, using: &random)
            switch Int.random(in: 0..<40, using: &random) {
            case 0: elements.append(elements[index])
            case 1: elements = Array(repeating: elements[index], count: 600)
            default: elements[index] = mutate(elements[index], &random)
            }
            return .array(elements)
        default: return odd.randomElement(using: &random) ?? .null
        }
    }

    /// Corrupts the text, so that it is no longer valid JSON or UTF-8.
    private static func broken(_ body: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var body = body
        let index = Int.random(in: 0..<body.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: body.removeLast(body.count - max(1, index))
        case 1: body.insert(0xFF, at: index)
        case 2: body.append(contentsOf: Array("}".utf8))
        case 3: body = Array(repeating: UInt8(ascii: "["), count: 100_000)
        case 4: body = Array(String(repeating: #"{"a":"#, count: 5000).utf8)
        default: body = Array(#"{"a":1e99999}"#.utf8)
        }
        return body
    }

    @Test("Ten thousand random requests are answered or rejected without a crash")
    func tenThousand() async throws {
        let seed = UInt64.random(in: 1...9_999_999)
        var random = SeededRandom(seed: seed)
        let served = Served()
        try await served.set("a/1", n: 1)
        let header = try #require(HTTPField.Name("Keel-Protocol"))
        var statuses: [Int: Int] = [:]
        var begun = 0
        for round in 0..<10_000 {
            let place = Self.places.randomElement(using: &random) ?? ""
            let text = Self.bodies.randomElement(using: &random) ?? ""
            let json = try FirestoreJSON(parsing: Array(text.utf8))
            let isBroken = round % 4 == 0
            var body = Self.mutate(json, &random).bytes
            if isBroken { body = Self.broken(Array(text.utf8), &random) }
            let fields: HTTPFields = round % 3 == 0 ? [header: "1"] : [:]
            let answer = try await served.send(
                place == "/a/1" ? .patch : .post,
                path: Served.root + place,
                body,
                fields
            )
            statuses[answer.status, default: 0] += 1
            let shown = String(decoding: body, as: UTF8.self)
            // Status 501 reports an unsupported operation, as opposed to an invalid request.
            let isRefusal = (400..<500).contains(answer.status) || answer.status == 501
            try #require(
                isRefusal || (answer.status == 200 && !isBroken),
                "seed \(seed), round \(round): \(answer.status) for \(shown.prefix(2000))"
            )
            let first = answer.json.elements?.first ?? answer.json
            if answer.status == 200, first["transaction"] != nil { begun += 1 }
            if isRefusal { try #require(answer.error != nil, "seed \(seed), round \(round)") }
        }
        #expect((statuses[400] ?? 0) > 5000, "seed \(seed): \(statuses)")
        let isUnchanged = served.transactionCount <= begun
        #expect(isUnchanged, "seed \(seed)")
        let found = try await served.send(.get, path: "/health")
        #expect(found.status == 200)
    }

    @Test("Two thousand random paths and queries are answered or rejected")
    func targets() async throws {
        let seed = UInt64.random(in: 1...9_999_999)
        var random = SeededRandom(seed: seed)
        let served = Served()
        let pieces = [
            "/", "//", "%", "%2", "%2F", "%00", "%FF", ":", "::commit", "?", "&", "=", ";", "a",
            "..", ".",
            "__x__", "documents", "projects", "v1", "databases", "mask.fieldPaths", "pageSize=-1",
            "pageSize=x",
            "pageToken=!", "pageToken=e30", "pageToken=W10", "showMissing=maybe", "orderBy=a b c",
            "orderBy=,",
            "transaction=x", "updateMask.fieldPaths=", "updateMask.fieldPaths=a..b", "+", "é",
            "\u{1F600}",
            "currentDocument.updateTime=x", "currentDocument.exists=2", "documentId=..",
            "documentId=a/b",
        ]
        let methods: [HTTPRequest.Method] = [.get, .post, .patch, .delete, .put, .head, .options]
        for round in 0..<2000 {
            let count = Int.random(in: 0..<6, using: &random)
            let tail = (0..<count).compactMap { _ in pieces.randomElement(using: &random) }.joined()
            let start =
                ["", Served.root, "\(Served.root)/a", "\(Served.root)/a/1?"]
                .randomElement(using: &random) ?? ""
            let method = methods.randomElement(using: &random) ?? .get
            let answer = try await served.send(method, path: start + tail, Array("{}".utf8))
            try #require(answer.status < 500, "seed \(seed), round \(round): \(start)\(tail)")
        }
        #expect(served.transactionCount == 0)
    }
}
