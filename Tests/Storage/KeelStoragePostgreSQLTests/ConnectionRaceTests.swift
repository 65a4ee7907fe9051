#if PostgreSQL
import Dispatch
import Foundation
import KeelStorage
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Races of hosts")
struct ConnectionRaceTests {
    /// A name whose lookup blocks until a test releases it.
    private static let slow = ["host": "slow.example"]

    /// Is a server that has no TLS, and then refuses the role.
    private static func refuse(on listener: FileDescriptor, _ answered: DispatchSemaphore) {
        Thread.detachNewThread {
            let client = listener.accept()
            let refusal = Array("SFATAL\0VFATAL\0C28000\0Mrefused\0\0".utf8)
            let head: [UInt8] = [UInt8(ascii: "E"), 0, 0, 0, UInt8(refusal.count + 4)]
            for answer in [[UInt8(ascii: "N")], head + refusal] {
                guard client?.read() != nil else { return }
                _ = client?.write(answer[...])
            }
            answered.signal()
        }
    }

    @Test(
        "A host that answers is heard, however long the lookup of another name blocks",
        arguments: [true, false]
    )
    func survivesSlowLookups(isFirst: Bool) async throws {
        let listener = try FileDescriptor.listening()
        defer { listener.end() }
        let known = [
            "host": "known.example", "port": "\(listener.port)", "sslmode": "prefer",
            "gssencmode": "disable", "user": "keel",
        ]
        let hosts = isFirst ? [Self.slow, known] : [known, Self.slow]
        let settings = ConnectionSettings(hosts: hosts, attemptLimit: .seconds(30))
        let thread = try ConnectionThread("test", settings, answerLimit: .seconds(10))
        let answered = DispatchSemaphore(value: 0)
        let isAnsweredMeanwhile = Mutex(false)
        Self.refuse(on: listener, answered)
        let failure = try await thread.run { connection -> String in
            var race = ConnectionRace(settings) { host in
                guard host == Self.slow else {
                    return ConnectionSettings.addresses(of: host) { _ in ["127.0.0.1"] }
                }
                // Only the answer of the other host ends this lookup.
                let isAnswered = answered.wait(timeout: .now() + 20) == .success
                isAnsweredMeanwhile.withLock { $0 = isAnswered }
                return []
            }
            let winner = try race.winner(for: connection)
            return winner == nil ? "\(race.failure)" : ""
        }
        #expect(failure.contains("28000"), "\(failure)")
        #expect(isAnsweredMeanwhile.withLock { $0 })
        await thread.close()
    }

    @Test("A lookup that does not end fails after the time limit, and is shared meanwhile")
    func endsLookups() async throws {
        let settings = ConnectionSettings(hosts: [Self.slow], attemptLimit: .seconds(1))
        let thread = try ConnectionThread("test", settings, answerLimit: .seconds(10))
        let release = DispatchSemaphore(value: 0)
        defer { release.signal() }
        let count = Mutex(0)
        for _ in 0..<2 {
            let start = ContinuousClock.now
            let failure = try await thread.run { connection -> String in
                var race = ConnectionRace(settings) { _ in
                    count.withLock { $0 += 1 }
                    release.wait()
                    return []
                }
                let winner = try race.winner(for: connection)
                return winner == nil ? "\(race.failure)" : ""
            }
            #expect(failure.contains("the lookup of the host’s name took longer"), "\(failure)")
            #expect(ContinuousClock.now - start >= .seconds(1))
        }
        #expect(count.withLock { $0 } == 1)
        await thread.close()
    }

    @Test("Cancellation ends the opening of a connection during a lookup")
    func cancelsLookups() async throws {
        let settings = ConnectionSettings(hosts: [Self.slow], attemptLimit: .seconds(600))
        let thread = try ConnectionThread("test", settings, answerLimit: .seconds(10))
        let release = DispatchSemaphore(value: 0)
        defer { release.signal() }
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        let call = Task {
            try await thread.run { connection -> Bool in
                var race = ConnectionRace(settings) { _ in
                    continuation.yield()
                    release.wait()
                    return []
                }
                return try race.winner(for: connection) == nil
            }
        }
        _ = await begun.first { _ in true }
        call.cancel()
        await expectError(StorageError.self, .cancelled) { try await call.value }
        await thread.close()
    }

    @Test("A host whose name is unknown is tried last then")
    func passesUnknownNames() async throws {
        let port = try await PostgreSQLServer.freePort()
        let hosts = [["host": "unknown.example"], ["host": "127.0.0.1", "port": "\(port)"]]
        let settings = ConnectionSettings(hosts: hosts, attemptLimit: .seconds(5))
        let thread = try ConnectionThread("test", settings, answerLimit: .seconds(10))
        let isLost = try await thread.run { connection -> Bool in
            var race = ConnectionRace(settings) { $0 == hosts[0] ? [] : [$0] }
            return try race.winner(for: connection) == nil
        }
        #expect(isLost)
        #expect(settings.silent.ordered(hosts) == [hosts[1], hosts[0]])
        await thread.close()
    }
}
#endif
