#if PostgreSQL
import Foundation
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Races of hosts")
struct ConnectionRaceTests {
    @Test("A host that answers is heard, however long the lookup of the next name blocks")
    func survivesSlowLookups() async throws {
        let listener = try FileDescriptor.listening()
        defer { listener.end() }
        let known = [
            "host": "127.0.0.1", "port": "\(listener.port)", "sslmode": "prefer",
            "gssencmode": "disable", "user": "keel",
        ]
        let unknown = ["host": "unknown.example"]
        let limit = Duration.seconds(2)
        let settings = ConnectionSettings(hosts: [known, unknown], attemptLimit: limit)
        let thread = try ConnectionThread("test", settings, answerLimit: .seconds(10))
        let failure = try await thread.run { connection -> String in
            var race = ConnectionRace(settings) { host in
                guard host == unknown else { return [host] }
                // A server that has no TLS, and then refuses the role.
                Thread.detachNewThread {
                    let client = listener.accept()
                    let refusal = Array("SFATAL\0VFATAL\0C28000\0Mrefused\0\0".utf8)
                    let head: [UInt8] = [UInt8(ascii: "E"), 0, 0, 0, UInt8(refusal.count + 4)]
                    for answer in [[UInt8(ascii: "N")], head + refusal] {
                        guard client?.read() != nil else { return }
                        _ = client?.write(answer[...])
                    }
                }
                // A lookup of a name that hangs: the race uses the system's clock.
                Thread.sleep(forTimeInterval: limit / .seconds(1))
                return []
            }
            let winner = try race.winner(for: connection)
            return winner == nil ? "\(race.failure)" : ""
        }
        #expect(failure.contains("28000"), "\(failure)")
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
