import HTTPTypes
import KeelServing
import KeelStorage
import KeelStorageFirestore
import Testing

@Suite("Commits and individual writes")
struct CommitMethodTests {
    private let served = Served()

    @Test("A commit applies all writes and returns the results of their transforms")
    func commits() async throws {
        let transforms = #"""
            ,"updateTransforms":[
              {"fieldPath":"n","increment":{"integerValue":"2"}},
              {"fieldPath":"at","setToServerValue":"REQUEST_TIME"},
              {"fieldPath":"list","appendMissingElements":{"values":[{"stringValue":"x"}]}}]
            """#
        let body = """
            {"database":"\(Served.database)","writes":[
              \(Served.write("a/1", n: 1, transforms)), \(Served.write("a/2", n: 2)),
              {"delete":"\(Served.name("a/3"))"}]}
            """
        let answer = try await served.send(.post, ":commit", body)
        #expect(answer.status == 200)
        let results = try #require(answer.json["writeResults"]?.elements)
        let time = try #require(answer.json["commitTime"])
        #expect(results.map { $0["updateTime"] } == [time, time, nil])
        // The server's time has a resolution of milliseconds.
        let microseconds = try #require(time.text.flatMap(FirestoreTime.time)).microseconds
        let cut = Timestamp(microseconds: microseconds / 1_000 * 1_000)
        #expect(
            results[0]["transformResults"] == [
                ["integerValue": "3"], ["timestampValue": .string(FirestoreTime.text(of: cut))],
                ["nullValue": .null],
            ]
        )
        let found = try await served.send(.get, "/a/1")
        #expect(found.json["fields"]?["n"] == ["integerValue": "3"])
        #expect(found.json["updateTime"] == time)
    }

    @Test("A write whose condition fails undoes the others")
    func undoes() async throws {
        let condition = #","currentDocument":{"exists":true}"#
        let body = """
            {"writes":[\(Served.write("a/1", n: 1)),\(Served.write("a/2", n: 2, condition))]}
            """
        let answer = try await served.send(.post, ":commit", body)
        #expect(answer.error == "NOT_FOUND")
        let details = answer.json["error"]?["details"]?.elements?.first
        #expect(details?["metadata"]?["effect"] == "none")
        let missing = try await served.send(.get, "/a/1")
        #expect(missing.status == 404)
    }

    @Test(
        "A commit that changes nothing is later than the state before, and earlier than the next one"
    )
    func timeWithoutChanges() async throws {
        let first = try await served.commit("a/1", n: 1)
        let nothing = "{\"writes\":[{\"delete\":\"\(Served.name("a/none"))\"}]}"
        let second = try await served.send(.post, ":commit", nothing)
        let third = try await served.commit("a/1", n: 2)
        let times = try [first, second, third].map { answer in
            try #require(answer.json["commitTime"]?.text.flatMap(FirestoreTime.time))
        }
        #expect(times[0] < times[1] && times[1] < times[2])
    }

    @Test("A write that changes nothing returns the existing update time")
    func unchanged() async throws {
        let first = try await served.set("a/1", n: 1)
        let time = try #require(first.json["updateTime"])
        try await served.set("a/2", n: 1)
        let body = """
            {"writes":[\(Served.write("a/2", n: 2)),\(Served.write("a/1", n: 1)),
              {"verify":"\(Served.name("a/1"))","currentDocument":{"exists":true}}]}
            """
        let answer = try await served.send(.post, ":commit", body)
        let results = try #require(answer.json["writeResults"]?.elements)
        #expect(results.map { $0["updateTime"] } == [answer.json["commitTime"], time, time])
        let batch = "{\"writes\":[\(Served.write("a/1", n: 1)),\(Served.write("a/2", n: 3))]}"
        let single = try await served.send(.post, ":batchWrite", batch)
        let singles = try #require(single.json["writeResults"]?.elements)
        #expect(singles[0]["updateTime"] == time)
        #expect(singles[1]["updateTime"] != time)
    }

    @Test("Individual writes succeed and fail individually")
    func batchWrites() async throws {
        let condition = #","currentDocument":{"exists":true}"#
        let body = """
            {"writes":[\(Served.write("a/1", n: 1)),\(Served.write("a/2", n: 2, condition)),
              \(Served.write("__own__/3", n: 3)),\(Served.write("a/4", n: 4))]}
            """
        let answer = try await served.send(.post, ":batchWrite", body)
        #expect(answer.status == 200)
        let statuses = try #require(answer.json["status"]?.elements)
        #expect(statuses.map { $0["code"] } == [nil, .integer(5), .integer(3), nil])
        let results = try #require(answer.json["writeResults"]?.elements)
        #expect(results.map { $0["updateTime"] != nil } == [true, false, false, true])
        for (id, status) in [("1", 200), ("2", 404), ("4", 200)] {
            let found = try await served.send(.get, "/a/\(id)")
            #expect(found.status == status)
        }
        let twice = "{\"writes\":[\(Served.write("a/1", n: 1)),\(Served.write("a/1", n: 2))]}"
        let refused = try await served.send(.post, ":batchWrite", twice)
        #expect(refused.error == "INVALID_ARGUMENT")
    }

    @Test("A conflict outside a transaction is a failed precondition")
    func conflict() async throws {
        let stored = try await served.set("a/1", n: 1)
        let time = try #require(stored.json["updateTime"]?.text)
        try await served.set("a/1", n: 2)
        let condition = #","currentDocument":{"updateTime":"\#(time)"}"#
        let body = "{\"writes\":[\(Served.write("a/1", n: 3, condition))]}"
        let answer = try await served.send(.post, ":commit", body)
        #expect(answer.status == 400)
        #expect(answer.error == "FAILED_PRECONDITION")
        // As Google's server and its emulator answer, if there is a document.
        let later = #","currentDocument":{"updateTime":"2999-01-01T00:00:00Z"}"#
        let future = "{\"writes\":[\(Served.write("a/1", n: 3, later))]}"
        #expect(try await served.send(.post, ":commit", future).error == "INVALID_ARGUMENT")
        let missing = "{\"writes\":[\(Served.write("a/none", n: 3, later))]}"
        #expect(try await served.send(.post, ":commit", missing).error == "FAILED_PRECONDITION")
    }

    @Test(
        "Writes that violate the data model are rejected",
        arguments: [
            #"""
            {"update":{"name":"NAME",
            "fields":{"a":{"arrayValue":{"values":[{"arrayValue":{}}]}}}}}
            """#,
            #"{"update":{"name":"NAME","fields":{"__a__":{"nullValue":null}}}}"#,
            #"{"update":{"name":"NAME","fields":{"":{"nullValue":null}}}}"#,
            #"{"update":{"name":"NAME","fields":{"a":{"integerValue":"9223372036854775808"}}}}"#,
            #"{"update":{"name":"NAME","fields":{"a":{"integerValue":1.5}}}}"#,
            #"{"update":{"name":"NAME","fields":{"a":{"stringValue":1}}}}"#,
            #"{"update":{"name":"NAME","fields":{"a":{}}}}"#,
            #"{"update":{"name":"NAME","fields":{"a":{"geoPointValue":{"latitude":91}}}}}"#,
            #"""
            {"update":{"name":"NAME","fields":{"a":{"mapValue":{"fields":{
            "__type__":{"stringValue":"__unknown__"}}}}}}}
            """#,
            #"""
            {"update":{"name":"NAME","fields":{"a":{"mapValue":{"fields":{
            "__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[
            {"integerValue":"1"}]}}}}}}}}
            """#,
            #"{"update":{"name":"NAME/a","fields":{}}}"#,
            #"{"update":{"name":"projects/other/databases/d/documents/a/1","fields":{}}}"#,
            #"{"update":{"name":"NAME","fields":{"r":{"referenceValue":"projects/o/x"}}}}"#,
            #"""
            {"update":{"name":"NAME"},"updateTransforms":[{"fieldPath":"a",
            "increment":{"stringValue":"1"}}]}
            """#,
            #"{"delete":"NAME","currentDocument":{"updateTime":"yesterday"}}"#,
            #"{"update":7}"#, "{}", "7",
        ]
    )
    func rules(write: String) async throws {
        let write = write.replacing("NAME", with: Served.name("a/1"))
        let answer = try await served.send(.post, ":commit", "{\"writes\":[\(write)]}")
        #expect(answer.status == 400)
        #expect(answer.error == "INVALID_ARGUMENT")
        let missing = try await served.send(.get, "/a/1")
        #expect(missing.status == 404)
    }

    @Test("A deadlock in the store is not reported as a condition that fails")
    func deadlocks() async throws {
        let error = StorageError(.conflict, "the transaction conflicted with another one")
        let served = Served(UnavailableStorageAdapter(error))
        let body = Served.commit("a/1", n: 1)
        for method in [":commit", ":batchWrite"] {
            #expect(try await served.send(.post, method, body).error == "ABORTED")
        }
        #expect(try await served.set("a/1", n: 1).error == "ABORTED")
        #expect(try await served.send(.delete, "/a/1").error == "ABORTED")
    }

    @Test("Too many writes are rejected")
    func tooMany() async throws {
        let writes = (0...500).map { Served.write("a/\($0)", n: 1) }.joined(separator: ",")
        for method in [":commit", ":batchWrite"] {
            let answer = try await served.send(.post, method, "{\"writes\":[\(writes)]}")
            #expect(answer.error == "INVALID_ARGUMENT")
        }
    }

    @Test("A commit transforms each document up to 500 times, in all of its writes together")
    func manyTransforms() async throws {
        func write(_ path: String, _ count: Int) -> String {
            let transform = #"{"fieldPath":"n","increment":{"integerValue":"1"}}"#
            let all = [String](repeating: transform, count: count).joined(separator: ",")
            return Served.write(path, n: 0, #","updateTransforms":[\#(all)]"#)
        }
        let most = "{\"writes\":[\(write("a/1", 500)),\(write("a/2", 499)),\(write("a/2", 1))]}"
        #expect(try await served.send(.post, ":commit", most).status == 200)
        for writes in [write("a/3", 501), write("a/3", 499) + "," + write("a/3", 2)] {
            let answer = try await served.send(.post, ":commit", "{\"writes\":[\(writes)]}")
            #expect(answer.error == "INVALID_ARGUMENT")
        }
        #expect(try await served.send(.get, "/a/3").status == 404)
    }
}
