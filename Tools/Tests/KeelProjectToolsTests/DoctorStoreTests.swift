#if os(Linux) || os(macOS)
import Foundation
import KeelDoctorTools
import KeelStorage
import KeelStorageSQLite
import KeelToolsTestSupport
import Testing

@Suite("Doctor: stores", .timeLimit(.minutes(5)))
struct DoctorStoreTests {
    private let scratch: Scratch
    private var path: String { scratch.file("store.sqlite").path }

    init() throws { scratch = try Scratch() }

    private func makeStore() async throws {
        let adapter = try SQLiteStorageAdapter(at: .file(path))
        let storage = StorageClient(adapter)
        for number in 0..<200 {
            let text = DocumentValue.string(String(repeating: "x", count: 500))
            try await storage.setDocument("notes/\(number)", ["text": text])
        }
        try adapter.close()
    }

    @Test("A sound store is good")
    func sound() async throws {
        try await makeStore()
        let findings = await StoreCheck(path).findings()
        #expect(findings.map(\.state) == [.good])
        #expect(findings.first?.detail.hasPrefix("200 documents") == true)
        let named = await StoreCheck("sqlite:\(path)").findings()
        #expect(named.map(\.detail) == findings.map(\.detail))
        #expect(await StoreCheck("firestore:x").findings().map(\.state) == [.problem])
    }

    @Test("A missing, a foreign and a damaged store are problems")
    func problems() async throws {
        #expect(await StoreCheck(path).findings().map(\.state) == [.problem])
        let text = scratch.file("text.sqlite")
        try Data("This is no store, and never was one; it only has the name.".utf8).write(to: text)
        let foreign = await StoreCheck(text.path).findings()
        #expect(foreign.map(\.state) == [.problem])
        // The advice is for a command line, and names no functions.
        #expect(foreign.first?.advice?.contains(/\w\(/) == false)
        try await makeStore()
        let file = try FileHandle(forUpdating: URL(filePath: path))
        let size = try file.seekToEnd()
        for page in stride(from: UInt64(8192), to: size, by: 4096) {
            try file.seek(toOffset: page)
            try file.write(contentsOf: Data(count: 200))
        }
        try file.close()
        let findings = await StoreCheck(path).findings()
        #expect(findings.map(\.state) == [.problem])
        #expect(findings.first?.advice != nil)
    }

    @Test("The command exits with 2 if there is a problem, and supports JSON")
    func command() async throws {
        let ill = try KeelProcess(["doctor", "--storage", path, "--json"]).wait()
        #expect(ill.code == 2)
        let lines = ill.output.split(separator: "\n").filter { $0.contains(#""subject":"store "#) }
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#""state":"problem""#) == true)
        let served = try ServedProcess(scratch.file("served.sqlite").path, port: 0)
        defer { served.kill() }
        for option in ["--server", "--storage"] {
            let address = served.address.absoluteString
            let asked = try KeelProcess(["doctor", option, address]).wait()
            #expect(asked.output.contains("ok       server \(address): It responds."))
        }
        let wrong = try KeelProcess(["doctor", "--server", "nonsense"]).wait()
        #expect(wrong.code == 64)
    }
}
#endif
