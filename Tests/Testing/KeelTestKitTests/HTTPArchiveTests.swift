import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("HTTP archives", .timeLimit(.minutes(1)))
struct HTTPArchiveTests {
    private func recorded(
        _ answers: [ScriptedHTTPTransport.Answer],
        _ calls: [HTTPCall],
        rules: RecordingRules = RecordingRules()
    ) async throws -> HTTPArchive {
        let recording = ScriptedHTTPTransport(answers)
            .recording(rules: rules, clock: TestClock()) { Date(timeIntervalSince1970: 0) }
        for call in calls {
            let reply = try? await recording.send(call)
            _ = try? await reply?.body.collect(upTo: 1 << 20)
        }
        return try HTTPArchive(data: try recording.archive.data())
    }

    @Test("An archive is HAR 1.2 with all required members")
    func format() async throws {
        let archive = try await recorded(
            [.json(#"{"a":1}"#)],
            [httpCall(.post, "/a?b=c", fields: [.contentType: "application/json"], body: "{}")]
        )
        let data = try archive.data()
        let root = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let log = try #require(root["log"] as? [String: Any])
        #expect(log["version"] as? String == "1.2")
        let creator = try #require(log["creator"] as? [String: Any])
        #expect(creator["name"] is String && creator["version"] is String)
        let entries = try #require(log["entries"] as? [[String: Any]])
        let entry = try #require(entries.first)
        #expect(entry["startedDateTime"] as? String == "1970-01-01T00:00:00.000Z")
        #expect(entry["time"] as? Double == 0)
        #expect(entry["cache"] is [String: Any])
        let timings = try #require(entry["timings"] as? [String: Any])
        #expect(Set(timings.keys) == ["send", "wait", "receive"])
        let request = try #require(entry["request"] as? [String: Any])
        #expect(
            Set(request.keys) == [
                "method", "url", "httpVersion", "cookies", "headers", "queryString", "postData",
                "headersSize", "bodySize",
            ]
        )
        #expect(request["url"] as? String == "https://example.org/a?b=c")
        let response = try #require(entry["response"] as? [String: Any])
        #expect(
            Set(response.keys) == [
                "status", "statusText", "httpVersion", "cookies", "headers", "content",
                "redirectURL", "headersSize", "bodySize",
            ]
        )
        let content = try #require(response["content"] as? [String: Any])
        #expect(content["text"] as? String == #"{"a":1}"#)
        #expect(content["mimeType"] as? String == "application/json")
        #expect(content["size"] as? Int == 7)
    }

    @Test("Recorded exchanges are replayed, including failures")
    func roundTrip() async throws {
        let calls = [
            httpCall(.get, "/a?page=1&token=one"), httpCall(.get, "/a?page=2&token=one"),
            httpCall(.get, "/a?page=1&token=one"), httpCall(.get, "/broken"),
            httpCall(.get, "/image"),
        ]
        var rules = RecordingRules()
        rules.keepsUnknownBodies = true
        let archive = try await recorded(
            [
                .json(#"{"n":1}"#, headers: [.setCookie: "sid=s3cret"]), .json(#"{"n":2}"#),
                .json(#"{"n":3}"#), .failure(TransportError(.tlsUntrusted)),
                .chunks([[0xff, 0, 1]], headers: [.contentType: "image/png"]),
            ],
            calls,
            rules: rules
        )
        let replaying = ReplayingHTTPTransport(archive, rules: rules)
        // A different token and a different order of the query still make the same calls.
        let second = try await replaying.send(httpCall(.get, "/a?token=two&page=2"))
        #expect(try await text(second) == #"{"n":2}"#)
        let first = try await replaying.send(httpCall(.get, "/a?page=1&token=two"))
        #expect(try await text(first) == #"{"n":1}"#)
        #expect(first.head.headerFields[.setCookie] == "<redacted>")
        let third = try await replaying.send(calls[2])
        #expect(try await text(third) == #"{"n":3}"#)
        let image = try await replaying.send(calls[4])
        #expect(try await image.body.collect(upTo: 9) == [0xff, 0, 1])
        #expect(replaying.unusedEntries.map(\.request.url) == ["https://example.org/broken"])
        await expectError(TransportError.self, .tlsUntrusted) { try await replaying.send(calls[3]) }
        #expect(replaying.unusedEntries.isEmpty)
        #expect(replaying.unmatchedCalls.isEmpty)
    }

    @Test("A call without an entry fails, and the error names the request")
    func unmatched() async throws {
        let archive = try await recorded([.json("{}")], [httpCall(.get, "/a?x=1")])
        let replaying = ReplayingHTTPTransport(archive)
        func message(_ call: HTTPCall) async -> String {
            do throws(TransportError) {
                _ = try await replaying.send(call)
                return "answered"
            } catch { return "\(error.code): \(error.message)" }
        }
        let name = "unknown: The archive has no answer to GET https://example.org"
        #expect(
            await message(httpCall(.get, "/a?x=2"))
                == "\(name)/a. There are entries for this target with another method, query or body."
        )
        #expect(
            await message(httpCall(.get, "/b")) == "\(name)/b. There is no entry for this target."
        )
        #expect(await message(httpCall(.get, "/a?x=1")) == "answered")
        #expect(
            await message(httpCall(.get, "/a?x=1")) == "\(name)/a. All entries for it are used."
        )
        #expect(replaying.unmatchedCalls.count == 3)
    }

    @Test("Strict order requires calls in the order of the archive")
    func strictOrder() async throws {
        let archive = try await recorded(
            [.json("1"), .json("2")],
            [httpCall(.get, "/a"), httpCall(.get, "/b")]
        )
        let replaying = ReplayingHTTPTransport(archive, isStrictlyOrdered: true)
        let error = await #expect(throws: TransportError.self) {
            try await replaying.send(httpCall(.get, "/b"))
        }
        #expect(error?.message.hasSuffix("The next entry is GET https://example.org/a.") == true)
        _ = try await replaying.send(httpCall(.get, "/a"))
        _ = try await replaying.send(httpCall(.get, "/b"))
    }

    @Test("JSON bodies are equal regardless of the order of their keys")
    func jsonBodies() async throws {
        let fields: HTTPFields = [.contentType: "application/json"]
        let archive = try await recorded(
            [.json("1"), .json("2")],
            [
                httpCall(.post, "/a", fields: fields, body: #"{"a":1,"b":[true,null,"x"]}"#),
                httpCall(.post, "/a", fields: fields, body: #"{"a":2}"#),
            ]
        )
        let replaying = ReplayingHTTPTransport(archive)
        let second = try await replaying.send(
            httpCall(.post, "/a", fields: fields, body: #"{ "a": 2 }"#)
        )
        #expect(try await text(second) == "2")
        let first = try await replaying.send(
            httpCall(.post, "/a", fields: fields, body: #"{"b":[true,null,"x"],"a":1}"#)
        )
        #expect(try await text(first) == "1")
        let bodiless = ReplayingHTTPTransport(archive, matching: [.method, .path])
        _ = try await bodiless.send(httpCall(.post, "/a"))
    }

    @Test("Numbers in JSON bodies are equal by value, to the last digit")
    func jsonNumbers() async throws {
        let fields: HTTPFields = [.contentType: "application/json"]
        let body = #"{"id":9007199254740993,"rate":2.50,"count":1}"#
        let archive = try await recorded(
            [.json("1")],
            [httpCall(.post, "/a", fields: fields, body: body)]
        )
        let replaying = ReplayingHTTPTransport(archive)
        // The identifier of another entity, as a client sends it that keeps numbers as `Double`.
        let rounded = #"{"id":9007199254740992,"rate":2.5,"count":1}"#
        await #expect(throws: TransportError.self) {
            try await replaying.send(httpCall(.post, "/a", fields: fields, body: rounded))
        }
        let same = #"{"count":1.0,"rate":2.5,"id":9007199254740993}"#
        let reply = try await replaying.send(httpCall(.post, "/a", fields: fields, body: same))
        #expect(try await text(reply) == "1")
    }

    @Test("Bodies that are too long, encoded or of an unknown type are omitted with a note")
    func omissions() async throws {
        var rules = RecordingRules()
        rules.bodyLimit = 10
        let archive = try await recorded(
            [
                .json(#"{"long":"0123456789"}"#),
                .chunks([[1]], headers: [.contentType: "image/png"]),
                .chunks(
                    [[1]],
                    headers: [.contentType: "application/json", .contentEncoding: "gzip"]
                ),
            ],
            (0..<3).map { _ in httpCall(.get, "/a") },
            rules: rules
        )
        #expect(archive.log.entries.map(\.response.content.text) == [nil, nil, nil])
        #expect(archive.log.entries.allSatisfy { $0.comment != nil })
    }

    @Test("A dropped body ends its entry")
    func dropped() async throws {
        let recording = ScriptedHTTPTransport([.chunks([Array("[1".utf8), Array(",2]".utf8)])])
            .recording()
        do {
            let reply = try await recording.send(httpCall(.get, "/"))
            #expect(recording.archive.log.entries.isEmpty)
            var iterator = reply.body.makeAsyncIterator()
            _ = try await iterator.next()
        }
        #expect(recording.archive.log.entries.map(\.response.content.size) == [2])
    }

    @Test("Archives by other programs are read")
    func foreign() throws {
        let text = """
            {"log":{"version":"1.2","creator":{"name":"Browser","version":"9"},"pages":[],"entries":[
            {"pageref":"p","startedDateTime":"2025-01-01T00:00:00Z","time":1.5,"request":{"method":
            "GET","url":"https://example.org/","httpVersion":"h2","cookies":[{"name":"a","value":"b",
            "path":"/"}],"headers":[],"queryString":[],"headersSize":1,"bodySize":0},"response":{
            "status":200,"statusText":"","httpVersion":"h2","cookies":[],"headers":[],"content":{
            "size":1,"mimeType":"text/plain","compression":0,"text":"x"},"redirectURL":"",
            "headersSize":-1,"bodySize":-1,"_transferSize":3},"cache":{},"timings":{"blocked":1,
            "dns":-1,"send":0,"wait":1,"receive":0.5}}]}}
            """
        let archive = try HTTPArchive(data: Data(text.utf8))
        #expect(archive.log.creator.name == "Browser")
        #expect(archive.log.entries.first?.response.content.text == "x")
    }
}
