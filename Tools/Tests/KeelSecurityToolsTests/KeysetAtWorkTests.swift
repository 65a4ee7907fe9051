#if os(Linux) || os(macOS)
import Foundation
import KeelSecurity
import KeelToolsTestSupport
import Synchronization
import Testing

@Suite("keel keyset changes a file while rings use it", .timeLimit(.minutes(30)))
struct KeysetAtWorkTests {
    /// The state shared by the rings and the commands.
    private final class Work: Sendable {
        struct State {
            /// Keys that must not encrypt any further messages.
            var retired: Set<UInt32> = []
            /// Keys whose messages may no longer be decrypted.
            var closing: Set<UInt32> = []
            var counts: [UInt32: UInt64] = [:]
            var messages: [UInt32: [(sealed: Data, plain: Data)]] = [:]
            var isOver = false
        }

        let state = Mutex(State())
        let (turns, turn) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        /// The maximum number of messages per key that are decrypted again at the end.
        private static let mostKept = 2_000

        static func id(of sealed: Data) -> UInt32 {
            sealed.dropFirst().prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        }

        func note(_ sealed: Data, _ plain: Data) {
            state.withLock { state in
                let id = Self.id(of: sealed)
                state.counts[id, default: 0] += 1
                if state.messages[id]?.count ?? 0 < Self.mostKept {
                    state.messages[id, default: []].append((sealed, plain))
                }
            }
        }

        /// Encrypts and decrypts with a ring until the test is over.
        func flow(through ring: KeyRing, _ name: UInt8) async throws {
            var number: UInt64 = 0
            while !state.withLock({ $0.isOver }) {
                number += 1
                let plain = Data([name] + withUnsafeBytes(of: number) { Array($0) })
                let retired = state.withLock { $0.retired }
                let sealed = try ring.encrypt(plain, associatedData: Data())
                let id = Self.id(of: sealed)
                #expect(!retired.contains(id), "message \(number) of ring \(name)")
                note(sealed, plain)
                do {
                    #expect(try ring.decrypt(sealed, associatedData: Data()) == plain)
                } catch {
                    #expect(state.withLock { $0.closing.contains(id) }, "\(error)")
                }
                turn.yield()
                await Task.yield()
            }
        }
    }

    private struct Row: Decodable {
        let id: UInt32
        let status: String
        let isPrimary: Bool
    }

    @Test("Rotating, disabling, destroying and rewrapping by command interrupts and loses nothing")
    func atWork() async throws {
        let scratch = try Scratch()
        let file = scratch.file("keyset.json")
        let keys = [scratch.file("key"), scratch.file("other-key")]

        @discardableResult
        func keel(_ command: String, under key: URL, _ more: [String] = []) throws -> String {
            let arguments = ["keyset", command, file.path, "--json", "--key-file", key.path]
            let result = try KeelProcess(arguments + more).wait()
            try #require(result.code == 0, "\(command): \(result.errors)")
            return result.output
        }

        try keel("create", under: keys[0], ["--algorithm", "AES256_GCM"])
        let keysetFile = KeysetFile(
            at: file,
            under: TestKeySource(file: keys[0]),
            alternatives: [TestKeySource(file: keys[1])]
        )
        // Creates the second key, so that the rings know both from the start.
        try keel("rewrap", under: keys[0], ["--new-key-file", keys[1].path])
        var configuration = KeyRing.Configuration()
        configuration.maximumReservation = 7
        let settings = configuration
        let work = Work()

        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in UInt8(0)..<2 {
                let ring = try await keysetFile.ring(configuration: settings)
                group.addTask {
                    // The commands must not wait for a ring that has stopped.
                    defer { work.turn.finish() }
                    try await work.flow(through: ring, name)
                }
            }
            defer { work.state.withLock { $0.isOver = true } }
            var turns = work.turns.makeAsyncIterator()
            var key = 1
            for round in 0..<4 {
                // Messages flow between any two commands.
                for _ in 0..<3 { try #require(await turns.next() != nil, "a ring has stopped") }
                let rotated = try keel("rotate", under: keys[key]).split(separator: "\n").map {
                    try JSONDecoder().decode(Row.self, from: Data($0.utf8))
                }
                let old = rotated.filter { !$0.isPrimary && $0.status == "enabled" }.map(\.id)
                work.state.withLock { $0.retired.formUnion(old) }
                for _ in 0..<3 { try #require(await turns.next() != nil, "a ring has stopped") }
                let last = try #require(old.last)
                work.state.withLock { _ = $0.closing.insert(last) }
                try keel("disable", under: keys[key], ["--id", "\(last)"])
                for _ in 0..<3 { try #require(await turns.next() != nil, "a ring has stopped") }
                if round % 2 == 0 {
                    try keel("enable", under: keys[key], ["--id", "\(last)"])
                } else {
                    try keel("destroy", under: keys[key], ["--id", "\(last)", "--yes"])
                }
                let next = 1 - key
                try keel("rewrap", under: keys[key], ["--new-key-file", keys[next].path])
                key = next
            }
            for _ in 0..<3 { try #require(await turns.next() != nil, "a ring has stopped") }
            work.state.withLock { $0.isOver = true }
            try await group.waitForAll()
        }

        let kept = try await keysetFile.load()
        let service = SecurityService(keyset: kept)
        let state = work.state.withLock { $0 }
        #expect(kept.keys.count { $0.status == .destroyed } == 2)
        #expect(state.counts.count == 5)
        for (id, count) in state.counts {
            let entry = try #require(kept.key(id))
            #expect(entry.usage >= count, "the count of key \(id)")
            for message in state.messages[id] ?? [] {
                if entry.status == .enabled {
                    #expect(try service.decrypt(message.sealed) == message.plain)
                } else {
                    #expect(throws: SecurityError.self) { try service.decrypt(message.sealed) }
                }
            }
        }
    }
}
#endif
