#if Logging

import Foundation
import KeelLogSecrets
import Logging
import Testing

@testable import KeelLogging

@Suite("1,000 planted secrets")
struct LeakTests {
    private let planted = PlantedSecrets.make(1000, seed: 11)

    private func leaks(_ text: String) -> [String] { planted.found(in: text.utf8) }

    @Test("No planted secret reaches a console, a file, a queue or a sampled handler")
    func outputs() throws {
        let folder = URL.temporaryDirectory.appending(path: "keel-log-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = try RotatingLogFile(at: folder.appending(path: "app.log"))
        let alone = try RotatingLogFile(at: folder.appending(path: "alone.log"))
        let memory = MemoryLogOutput()
        let queue = memory.queued()
        let formats: [LogFormat] = [
            .jsonLines, .text(), .text(symbols: true, colors: true, indentsLineBreaks: true),
        ]
        planted.log(to: logger(to: MultiplexLogOutput([file, queue])))
        // A single output writes lines without records, from a statement's second record on.
        for _ in 0..<2 { planted.log(to: logger(to: alone)) }
        planted.log(
            to: Logger(label: "sampled") {
                OutputLogHandler(label: $0, output: queue, level: .trace).sampled(by: LogSampler())
            }
        )
        queue.synchronize()
        let written = try String(contentsOf: folder.appending(path: "app.log"), encoding: .utf8)
        #expect(written.split(separator: "\n").count == 1000)
        #expect(leaks(written) == [])
        let direct = try String(contentsOf: folder.appending(path: "alone.log"), encoding: .utf8)
        #expect(direct.split(separator: "\n").count == 2000)
        #expect(leaks(direct) == [])
        #expect(memory.records.count > 1000)
        for format in formats {
            let text = memory.records.map { String(decoding: format.bytes(of: $0), as: UTF8.self) }
            #expect(leaks(text.joined()) == [])
        }
        // Nothing else in memory could still be written.
        #expect(leaks(String(describing: memory.records)) == [])
    }

    @Test("Without redaction the search finds all of them")
    func counterproof() {
        let memory = MemoryLogOutput()
        planted.log(to: logger(to: memory, recorder: LogRecorder(redactor: nil)))
        let text = memory.records.map {
            String(decoding: LogFormat.jsonLines.bytes(of: $0), as: UTF8.self)
                .replacing("\\\"", with: "\"")
        }
        // swift-log keeps a mark as an attribute, which only a redactor honors.
        #expect(leaks(text.joined()).count == 1000)
    }
}

#endif
