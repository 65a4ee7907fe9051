import Foundation
import HTTPTypes
import KeelDoctorTools
import KeelFiles
import KeelHTTP
import KeelSecrets
import KeelTestKit
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@Suite("Doctor")
struct DoctorTests {
    private static let day = Date(timeIntervalSince1970: 1_800_000_000)

    private func readings(
        free: Int64? = 5 << 30,
        files: UInt64? = 65_536,
        temporary: URL = FileManager.default.temporaryDirectory
    ) -> MachineCheck.Readings {
        MachineCheck.Readings(
            system: "Test OS",
            coreCount: 4,
            memoryByteCount: 8 << 30,
            openFiles: (files, nil),
            freeByteCount: { _ in free },
            temporaryFolder: temporary
        )
    }

    private func states(_ check: some DoctorCheck) async -> [DoctorFinding.State] {
        await check.findings().map(\.state)
    }

    @Test("A machine with free space is good, and one without is not")
    func machine() async {
        let folders = [URL(filePath: "/data")]
        let good = await MachineCheck(readings(), folders: folders).findings()
        #expect(good.allSatisfy { $0.state == .good })
        #expect(good.map(\.subject) == ["machine", "disk /data", "temporary files", "open files"])
        let full = MachineCheck(readings(free: 1 << 20), folders: folders)
        #expect(await states(full) == [.good, .warning, .good, .good])
        let gone = MachineCheck(readings(free: nil), folders: folders)
        #expect(await states(gone) == [.good, .problem, .good, .good])
        let few = MachineCheck(readings(files: 256), folders: [])
        #expect(await states(few) == [.good, .good, .warning])
        let nowhere = URL(filePath: "/dev/null/temporary")
        let unwritable = MachineCheck(readings(temporary: nowhere), folders: [])
        #expect(await states(unwritable) == [.good, .problem, .good])
    }

    @Test("Every finding that is not good has advice")
    func advice() async {
        let findings =
            await MachineCheck(readings(free: 1, files: 1), folders: [URL(filePath: "/")])
            .findings() + ClockCheck(now: .distantPast, .unknown).findings()
        for finding in findings {
            #expect((finding.advice == nil) == (finding.state == .good), "\(finding.subject)")
        }
    }

    @Test("This machine can be checked")
    func current() async {
        let findings = await MachineCheck(folders: [URL(filePath: "/")]).findings()
        #expect(findings.count == 4)
        #expect(await ClockCheck().findings().count == 1)
    }

    #if canImport(Darwin)
    @Test("The maximum of open files is one that the system accepts")
    func openFiles() throws {
        #expect(try #require(OpenFileLimit.current.hard) <= UInt64(OPEN_MAX))
    }
    #endif

    @Test("An impossible, an unsynchronized and a synchronized clock are distinguished")
    func clock() async {
        #expect(await states(ClockCheck(now: .distantPast, .synchronized)) == [.problem])
        #expect(await states(ClockCheck(now: .distantFuture, .synchronized)) == [.problem])
        #expect(await states(ClockCheck(now: Self.day, .synchronized)) == [.good])
        #expect(await states(ClockCheck(now: Self.day, .unsynchronized)) == [.warning])
        #expect(await states(ClockCheck(now: Self.day, .unknown)) == [.good])
    }

    @Test("A platform without a secret store is a warning with advice")
    func keyring() async throws {
        let good = KeyringCheck { () throws(SecretError) in
            try SecretStore(InMemorySecretStoreAdapter(), service: "test")
        }
        #expect(await states(good) == [.good])
        let none = KeyringCheck { () throws(SecretError) in
            throw SecretError(.noStore, "No store of secrets can be used.")
        }
        let findings = await none.findings()
        #expect(findings.map(\.state) == [.warning])
        #expect(findings.first?.advice?.contains("keel secrets doctor") == true)
    }

    private func server(
        _ reply: ScriptedHTTPTransport.Answer,
        at place: String = "http://127.0.0.1:8080"
    ) async throws -> [DoctorFinding] {
        let transport = ScriptedHTTPTransport([reply])
        let address = try #require(URL(string: place))
        return await ServerCheck(address, over: transport, now: { Self.day }).findings()
    }

    @Test("A responding server is good, and a failing, foreign or refusing one is a problem")
    func server() async throws {
        #expect(try await server(.status(.ok)).map(\.state) == [.good])
        for status in [HTTPResponse.Status.forbidden, .notFound, .serviceUnavailable] {
            let findings = try await server(.status(status))
            #expect(findings.map(\.state) == [.problem])
        }
        let away = try await server(.failure(TransportError(.connectionRefused, processed: .no)))
        #expect(away.map(\.state) == [.problem])
    }

    @Test("No finding contains the password of a server's address")
    func password() async throws {
        let lost = TransportError(.connectionRefused, processed: .no)
        for reply in [ScriptedHTTPTransport.Answer.status(.ok), .failure(lost)] {
            let findings = try await server(reply, at: "http://ann:s3cret@127.0.0.1:8080")
            #expect(findings.first?.subject == "server http://ann:…@127.0.0.1:8080")
            #expect(!findings.contains { "\($0)".contains("s3cret") })
        }
    }

    @Test("Clocks that differ are reported, and clocks that agree are not")
    func skew() async throws {
        // Ten seconds, and two minutes, behind this machine's clock.
        for (date, expected) in [
            ("Fri, 15 Jan 2027 07:59:50 GMT", [DoctorFinding.State.good]),
            ("Fri, 15 Jan 2027 07:58:00 GMT", [.good, .warning]),
            ("no date", [.good]),
        ] {
            let findings = try await server(.status(.ok, headers: [.date: date]))
            #expect(findings.map(\.state) == expected, "\(date)")
        }
    }

    @Test("An existing folder and a missing one are distinguished")
    func folder() async throws {
        let scratch = try Scratch()
        #expect(await states(FolderCheck(scratch.file("none").path)) == [.problem])
        // The check does not create a store.
        let empty = FolderCheck(scratch.folder.path)
        #expect(await states(empty) == [.warning])
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(names.isEmpty)
        _ = try LocalFileStoreAdapter(folder: scratch.folder.path)
        #expect(await empty.findings().first?.detail != "No file store has been opened in it yet.")
        #expect(await empty.findings().first?.state != .problem)
    }
}
