import HTTPTypes
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import Testing

@Suite("Methods on one document and collection listings")
struct DocumentMethodTests {
    private let served = Served()

    @Test("A patched document can be read under any project and database")
    func gets() async throws {
        let stored = try await served.set("a/1", n: 1)
        #expect(stored.status == 200)
        let found = try await served.send(.get, "/a/1")
        #expect(found.json == stored.json)
        #expect(found.json["name"]?.text == Served.name("a/1"))
        #expect(found.json["fields"] == ["n": ["integerValue": "1"]])
        #expect(found.json["createTime"] == found.json["updateTime"])
        #expect(found.head.headerFields[.cacheControl] == "no-store")
        let other = "/v1/projects/q/databases/%28other%29/documents/a/1"
        let elsewhere = try await served.send(.get, path: other)
        #expect(elsewhere.json["name"]?.text == "projects/q/databases/(other)/documents/a/1")
    }

    @Test("All documents are deleted at the address of Google's emulator, if that is allowed")
    func clearing() async throws {
        let path = "/emulator/v1/projects/other/databases/(default)/documents"
        let safe = Served()
        try await safe.set("a/1", n: 1)
        #expect(try await safe.send(.delete, path: path).status == 404)
        #expect(try await safe.send(.get, "/a/1").status == 200)
        let served = Served { $0.allowsClearing = true }
        for number in 0..<501 { try await served.set("a/\(number)", n: number) }
        try await served.set("a/1/b/2", n: 2)
        #expect(try await served.send(.get, path: path).status == 405)
        #expect(try await served.send(.delete, path: path).status == 200)
        let left = try await served.adapter.read(ReadRequest(.query(.everything())))
        guard case .found(let documents) = left.payload else { throw StorageError(.unknown, "") }
        #expect(documents.isEmpty)
    }

    @Test("A missing document is reported as in the protocol, with Keel's own code")
    func missing() async throws {
        let answer = try await served.send(.get, "/a/1")
        #expect(answer.status == 404)
        #expect(answer.error == "NOT_FOUND")
        #expect(answer.reason == "documentNotFound")
        #expect(answer.json["error"]?["code"] == .integer(404))
    }

    @Test("A mask in either spelling selects the fields of a response")
    func masks() async throws {
        let body = #"{"fields":{"a":{"nullValue":null},"b":{"booleanValue":true}}}"#
        _ = try await served.send(.patch, "/a/1", body)
        for query in [
            "mask.fieldPaths=b", "mask.field_paths=b",
            "$alt=json%3Benum-encoding%3Dint&mask.fieldPaths=b",
        ] {
            let found = try await served.send(.get, "/a/1?\(query)")
            #expect(found.json["fields"] == ["b": ["booleanValue": true]])
        }
        let none = try await served.send(.get, "/a/1?mask.fieldPaths=")
        #expect(none.json["fields"] == .object([]))
    }

    @Test("A patch with a mask changes or removes the masked fields and keeps the others")
    func patches() async throws {
        _ = try await served.send(
            .patch,
            "/a/1",
            #"{"fields":{"a":{"integerValue":1},"b":{"integerValue":2},"c":{"integerValue":3}}}"#
        )
        let patched = try await served.send(
            .patch,
            "/a/1?updateMask.fieldPaths=a&updateMask.fieldPaths=b",
            #"{"fields":{"a":{"integerValue":"10"}}}"#
        )
        #expect(
            patched.json["fields"] == ["a": ["integerValue": "10"], "c": ["integerValue": "3"]]
        )
        let replaced = try await served.set("a/1", n: 5)
        #expect(replaced.json["fields"] == ["n": ["integerValue": "5"]])
        #expect(replaced.json["createTime"] == patched.json["createTime"])
    }

    @Test("Conditions of patches and deletions are checked")
    func conditions() async throws {
        let place = "/a/1?currentDocument.exists=true"
        let missing = try await served.send(.patch, place, #"{"fields":{}}"#)
        #expect(missing.error == "NOT_FOUND")
        let stored = try await served.set("a/1", n: 1)
        let time = try #require(stored.json["updateTime"]?.text)
        let there = try await served.send(.patch, "/a/1?current_document.exists=false", "{}")
        #expect(there.status == 409)
        #expect(there.error == "ALREADY_EXISTS")
        try await served.set("a/1", n: 2)
        let late = "/a/1?currentDocument.updateTime=\(time)"
        for method in [.patch, .delete] as [HTTPRequest.Method] {
            let refused = try await served.send(method, late)
            #expect(refused.status == 400)
            #expect(refused.error == "FAILED_PRECONDITION")
            #expect(refused.reason == "conflict")
        }
        let deleted = try await served.send(.delete, "/a/1?currentDocument.exists=true")
        #expect(deleted.json == .object([]))
        let again = try await served.send(.delete, "/a/1")
        #expect(again.status == 200)
        let strict = try await served.send(.delete, "/a/1?currentDocument.exists=true")
        #expect(strict.error == "NOT_FOUND")
    }

    @Test("A document is created only once, with a given or a new id")
    func creates() async throws {
        let body = #"{"fields":{"n":{"integerValue":"1"}}}"#
        let created = try await served.send(.post, "/a?documentId=1", body)
        #expect(created.json["name"]?.text == Served.name("a/1"))
        let found = try await served.send(.get, "/a/1")
        #expect(found.json == created.json)
        let again = try await served.send(.post, "/a?documentId=1", body)
        #expect(again.error == "ALREADY_EXISTS")
        let below = try await served.send(.post, "/a/1/b", body)
        let name = try #require(below.json["name"]?.text)
        #expect(name.hasPrefix(Served.name("a/1/b/")))
        #expect(name.split(separator: "/").last?.count == 20)
    }

    @Test(
        "Each page of a listing continues where the previous one ended",
        arguments: ["", "n desc", "n"]
    )
    func lists(order: String) async throws {
        for n in 1...7 { try await served.set("a/\(n)", n: n % 3) }
        let parameters =
            order.isEmpty ? "" : "&orderBy=\(order.split(separator: " ").joined(separator: "+"))"
        var names: [String] = []
        var token = ""
        repeat {
            let place = "/a?pageSize=3\(parameters)&pageToken=\(token)&mask.fieldPaths=x"
            let page = try await served.send(.get, place)
            let documents = try #require(page.json["documents"]?.elements)
            #expect(documents.count <= 3)
            names += documents.compactMap { $0["name"]?.text?.split(separator: "/").last }.map(
                String.init
            )
            token = page.json["nextPageToken"]?.text ?? ""
        } while !token.isEmpty
        let wanted =
            switch order {
            case "n": ["3", "6", "1", "4", "7", "2", "5"]
            case "n desc": ["5", "2", "7", "4", "1", "6", "3"]
            default: ["1", "2", "3", "4", "5", "6", "7"]
            }
        #expect(names == wanted)
    }

    @Test("Missing parent documents are listed on request")
    func showsMissing() async throws {
        try await served.set("a/1", n: 1)
        try await served.set("a/0/b/1", n: 1)
        try await served.set("a/2/b/1", n: 1)
        try await served.set("a/1/b/1", n: 1)
        try await served.set("ab/3/b/1", n: 1)
        let plain = try await served.send(.get, "/a")
        #expect(plain.json["documents"]?.elements?.count == 1)
        let first = try await served.send(.get, "/a?showMissing=true&pageSize=2")
        let documents = try #require(first.json["documents"]?.elements)
        #expect(documents.map { $0["name"]?.text } == [Served.name("a/0"), Served.name("a/1")])
        #expect(documents.map { $0["updateTime"] != nil } == [false, true])
        let token = try #require(first.json["nextPageToken"]?.text)
        let next = try await served.send(.get, "/a?showMissing=true&pageToken=\(token)")
        #expect(next.json["documents"] == [["name": .string(Served.name("a/2"))]])
        let clash = try await served.send(.get, "/a?showMissing=true&orderBy=n")
        #expect(clash.error == "INVALID_ARGUMENT")
    }

    @Test("Encoded names of any characters are accepted")
    func names() async throws {
        for id in ["a:b", "%C3%BC", "a%20b", "(x)", "%25", "a%3Ab%3F"] {
            let stored = try await served.set("names/\(id)", n: 1)
            #expect(stored.status == 200)
            let found = try await served.send(.get, "/names/\(id)")
            #expect(found.json == stored.json)
        }
        let slash = try await served.send(.get, "/names/a%2Fb")
        #expect(slash.error == "INVALID_ARGUMENT")
    }
}
