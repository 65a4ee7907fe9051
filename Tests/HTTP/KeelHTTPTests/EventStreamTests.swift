import KeelHTTP
import KeelTestSupport
import Testing

@Suite("Lines and server-sent events")
struct EventStreamTests {
    @Test("Lines are the same wherever the bytes are split")
    func splitsLines() async throws {
        let text = "one\ntwo\r\nthree\rfour\r\r\nfive\n\nsix\r\n\rÄ€"
        let expected = ["one", "two", "three", "four", "", "five", "", "six", "", "Ä€"]
        for chunks in cuts(of: text) {
            var lines: [String] = []
            for try await line in HTTPByteStream.chunks(chunks).lines() { lines.append(line) }
            #expect(lines == expected)
        }
    }

    @Test("A line beyond the limit throws an error, complete or not")
    func boundsLines() async throws {
        for text in ["ab\nabcde\n", "ab\nabcdef"] {
            for chunks in cuts(of: text) {
                var lines = HTTPByteStream.chunks(chunks).lines(upTo: 4).makeAsyncIterator()
                #expect(try await lines.next() == "ab")
                await expectError(TransportError.self, .lineTooLong) { _ = try await lines.next() }
            }
        }
    }

    @Test("An error is the end of the lines: what it cut off is not a line")
    func endsLines() async throws {
        let lost = TransportError(.connectionLost)
        let stream = HTTPByteStream.chunks([Array("one\ntw".utf8)], thenThrow: lost)
        var lines = stream.lines().makeAsyncIterator()
        #expect(try await lines.next() == "one")
        await expectError(TransportError.self, .connectionLost) { _ = try await lines.next() }
        #expect(try await lines.next() == nil)
    }

    @Test("An error is the end of the events: none follows without the data that it refused")
    func endsEvents() async throws {
        let text = "data: 12345\ndata: 67890\ndata: 1\n\n"
        let limits = ServerSentEventLimits(maximumLineLength: 100, maximumEventSize: 10)
        var events = HTTPByteStream.chunks([Array(text.utf8)]).serverSentEvents(limits: limits)
            .makeAsyncIterator()
        await expectError(TransportError.self, .responseTooLarge) { _ = try await events.next() }
        #expect(try await events.next() == nil)
    }

    @Test("A line that ends with CR is returned before the next byte arrives")
    func givesLinesAtOnce() async throws {
        let stream = HTTPByteStream.chunks(
            [Array("now\r".utf8)],
            thenThrow: TransportError(.connectionLost)
        )
        var lines = stream.lines().makeAsyncIterator()
        #expect(try await lines.next() == "now")
    }

    @Test("Events are the same wherever the bytes are split")
    func parsesAtEverySplit() throws {
        let text =
            "\u{FEFF}: a comment\r\nretry: 2500\r\nid: 1\r\nevent: add\r\ndata: 73\r\n"
            + "data:  x\rdata\n\ndata:y\nid\n\n:\n\nevent: none\n\nid: 2\u{0}\n"
            + "data: ünï\nunknown: z\nretry: 1x\n\ndata: cut off\n"
        let expected = [
            ServerSentEvent(type: "add", data: "73\n x\n", lastEventID: "1"),
            ServerSentEvent(data: "y", lastEventID: ""),
            ServerSentEvent(data: "ünï", lastEventID: ""),
        ]
        for chunks in cuts(of: text) {
            var parser = ServerSentEventParser()
            var events: [ServerSentEvent] = []
            for chunk in chunks {
                parser.append(chunk[...])
                while let event = try parser.next() { events.append(event) }
            }
            #expect(events == expected)
            #expect(parser.reconnectionDelay == .milliseconds(2500))
        }
    }

    @Test("An identifier takes effect once its event is complete, even without data")
    func remembersIdentifiers() throws {
        var parser = ServerSentEventParser(lastEventID: "5")
        parser.append(Array("id: 6\n".utf8)[...])
        #expect(try parser.next() == nil)
        #expect(parser.lastEventID == "5")
        parser.append(Array("\ndata\n\n".utf8)[...])
        #expect(try parser.next() == ServerSentEvent(data: "", lastEventID: "6"))
        #expect(parser.lastEventID == "6")
    }

    @Test("A byte order mark is skipped only at the start")
    func skipsOneMark() throws {
        var parser = ServerSentEventParser()
        parser.append(Array("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\ndata: c\n\n".utf8)[...])
        #expect(try parser.next()?.data == "a")
        #expect(try parser.next()?.data == "c")
    }

    @Test("An event with too much data throws an error")
    func boundsEvents() throws {
        var parser = ServerSentEventParser(
            limits: ServerSentEventLimits(maximumLineLength: 100, maximumEventSize: 10)
        )
        parser.append(Array("data: 12345\ndata: 67890\n".utf8)[...])
        expectError(TransportError.self, .responseTooLarge) { _ = try parser.next() }
    }

    @Test("An event may have as much data as the limit", arguments: ["0123456789", "01234\n6789"])
    func fillsEvents(data: String) throws {
        var parser = ServerSentEventParser(
            limits: ServerSentEventLimits(maximumLineLength: 100, maximumEventSize: 10)
        )
        let lines = data.split(separator: "\n").map { "data: \($0)\n" }
        parser.append(Array((lines.joined() + "\n").utf8)[...])
        #expect(try parser.next()?.data == data)
    }

    /// Returns the text in one chunk, in two chunks split at every position, and byte by byte.
    private func cuts(of text: String) -> [[[UInt8]]] {
        let bytes = Array(text.utf8)
        return [[bytes], bytes.map { [$0] }]
            + bytes.indices.map { [Array(bytes[..<$0]), Array(bytes[$0...])] }
    }
}
