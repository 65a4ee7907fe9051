import Foundation
import KeelAnalytics
import KeelTelemetryTools
import KeelTestKit
import KeelToolsTestSupport
import Testing

#if os(Linux) || os(macOS)
@Suite("The command keel analytics", .timeLimit(.minutes(30)))
struct AnalyticsCommandTests {
    private let scratch: Scratch
    private let folder: URL

    init() throws {
        scratch = try Scratch()
        folder = scratch.file("analytics")
    }

    /// Runs an app that tracks 25 events, five of them for an undecided purpose.
    private func track() async throws {
        var configuration = AnalyticsConfiguration()
        configuration.add(ScriptedAnalyticsDestination("keel", faults: [.unavailable()]))
        configuration.add(ScriptedAnalyticsDestination("other"))
        let service = try AnalyticsService(at: folder, configuration: configuration)
        try service.grantConsent(for: .analytics)
        for number in 0..<20 {
            let number = AnalyticsValue.integer(Int64(number))
            service.trackEvent("seen", parameters: ["number": number, "mail": "x"])
        }
        for _ in 0..<5 { service.trackEvent(AnalyticsEvent(name: "held", purpose: .marketing)) }
        // It ends after an attempt at both destinations; the limit allows for a busy machine.
        #expect(await !service.flush(upTo: .seconds(600)))
    }

    private struct Status: Decodable {
        struct Destination: Decodable {
            let accepted: Int
            let delivered: Int
            let pending: Int
        }

        let consents: [String: String]
        let destinations: [String: Destination]
    }

    private func status() throws -> Status {
        let result = try KeelProcess(["analytics", "status", folder.path, "--json"]).wait()
        #expect(result.code == 0)
        return try JSONDecoder().decode(Status.self, from: Data(result.output.utf8))
    }

    @Test("status shows decisions and ledgers")
    func tellsStatus() async throws {
        try await track()
        let status = try status()
        #expect(status.consents == ["analytics": "granted"])
        let keel = try #require(status.destinations["keel"])
        #expect(keel.accepted == 25 && keel.delivered == 0 && keel.pending == 25)
        let other = try #require(status.destinations["other"])
        #expect(other.accepted == 25 && other.delivered == 20 && other.pending == 5)
        let text = try KeelProcess(["analytics", "status", folder.path]).wait().output
        #expect(text.contains("consent to analytics: granted\n"))
        #expect(text.contains("keel               25          0       25"))
    }

    @Test("export -o - writes to standard output, and nothing else")
    func exportsToStandardOutput() async throws {
        try await track()
        let place = try Scratch()
        let arguments = ["analytics", "export", folder.path]
        let named = try KeelProcess(arguments + ["-o", "-"], in: place.folder).wait()
        #expect(named.code == 0)
        #expect(named.output == (try KeelProcess(arguments).wait().output))
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder.path).isEmpty)
    }

    @Test("export writes the backlog of a destination, or everything")
    func exports() async throws {
        try await track()
        let waiting = try KeelProcess(["analytics", "export", folder.path, "--pending", "other"])
            .wait()
        #expect(waiting.code == 0)
        #expect(waiting.output.split(separator: "\n").count == 5)
        #expect(waiting.output.contains(#""name":"held""#))
        let file = scratch.file("events.jsonl")
        let all = try KeelProcess(["analytics", "export", folder.path, "-o", file.path]).wait()
        #expect(all.output == "25 events exported\n")
        let lines = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        #expect(lines.split(separator: "\n").count == 25)
        let nobody = try KeelProcess([
            "analytics", "export", folder.path, "--pending", "x", "--json",
        ]).wait()
        #expect(nobody.code == 1 && nobody.errors.contains(#""code":"notFound""#))
    }

    @Test("An export is not written into the app's folder, where it could replace a file")
    func exportOverJournal() async throws {
        try await track()
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        for name in names {
            let path = folder.appending(path: name).path
            let refused = try KeelProcess(["analytics", "export", folder.path, "-o", path]).wait()
            #expect(refused.code == 64, "\(refused.errors)")
        }
        #expect(!names.isEmpty)
        let all = try KeelProcess(["analytics", "export", folder.path]).wait()
        #expect(all.output.split(separator: "\n").count == 25)
    }

    @Test("An export that is interrupted ends before its next events")
    func interruptedExport() async throws {
        try await track()
        let export = AnalyticsExport(of: folder)
        let task = Task { () throws -> AnalyticsExport.Report in
            withUnsafeCurrentTask { $0?.cancel() }
            return try export.run { _ in }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        let pipe = try scratch.pipe("pipe")
        let refused = try KeelProcess(["analytics", "export", folder.path, "-o", pipe.path]).wait()
        #expect(refused.code == 1 && refused.errors.contains("is a pipe or a device"))
        #expect(scratch.isPipe(pipe))
    }

    @Test("flush delivers consented events to a server once and reports the rest")
    func flushes() async throws {
        try await track()
        let server = try ServedProcess(scratch.file("served.sqlite").path, port: 0)
        defer { server.kill() }
        let arguments = [
            "analytics", "flush", folder.path, "--to", "keel", "--server",
            server.address.absoluteString, "--drop", "mail",
        ]
        let first = try KeelProcess(arguments).wait()
        #expect(first.code == 0, "\(first.errors)")
        #expect(first.output == "20 events delivered, 5 pending\n")
        let second = try KeelProcess(arguments).wait()
        #expect(second.output == "0 events delivered, 5 pending\n")
        #expect(try status().destinations["keel"]?.delivered == 20)
        let stored = try KeelProcess([
            "documents", "query", "analytics", "--storage", server.address.absoluteString, "--json",
        ]).wait()
        #expect(stored.output.split(separator: "\n").count == 20)
        #expect(!stored.output.contains("mail"))
    }

    @Test("top counts the most frequent events and screens in a window of time")
    func top() async throws {
        try await track()
        let all = try KeelProcess(["analytics", "top", folder.path, "--json"]).wait()
        #expect(all.code == 0, "\(all.errors)")
        #expect(
            all.output == """
                {"count":20,"kind":"event","name":"seen","users":1}
                {"count":5,"kind":"event","name":"held","users":1}

                """
        )
        let first = try KeelProcess(["analytics", "top", folder.path, "-l", "1"]).wait()
        let lines = ["   count    users  kind    name", "      20        1  event   seen", ""]
        #expect(first.output == lines.joined(separator: "\n"))
        let windows = [
            ["--until", "2020-01-01"], ["--kind", "screen"], ["--since", "2199-01-01"],
        ]
        for window in windows {
            let none = try KeelProcess(["analytics", "top", folder.path, "--json"] + window).wait()
            #expect(none.code == 0 && none.output.isEmpty, "\(window)")
        }
        let wrong = try KeelProcess(["analytics", "top", folder.path, "--since", "soon"]).wait()
        #expect(wrong.code == 64)
    }

    @Test("flush offers no names if the app has had no destinations")
    func noDestinations() throws {
        let service = try AnalyticsService(at: folder, configuration: AnalyticsConfiguration())
        #expect(service.trackEvent("seen") != nil)
        let refused = try KeelProcess([
            "analytics", "flush", folder.path, "--to", "keel", "--server", "http://[::1]:9",
            "--no-rules",
        ]).wait()
        #expect(refused.code == 1 && refused.errors.contains("no destination “keel”"))
        #expect(refused.errors.contains("Its folder has none"), "\(refused.errors)")
    }

    @Test("flush refuses unknown names, a running app, and calls without explicit rules")
    func refuses() async throws {
        try await track()
        let away = "http://[::1]:9"
        let flush = ["analytics", "flush", folder.path, "--to", "keel", "--server", away]
        #expect(try KeelProcess(flush).wait().code == 64)
        let unknown = try KeelProcess(flush + ["--no-rules", "--name", "third"]).wait()
        #expect(unknown.code == 1 && unknown.errors.contains("keel, other"))
        let nowhere = try KeelProcess([
            "analytics", "flush", folder.path, "--to", "keel", "--no-rules",
        ]).wait()
        #expect(nowhere.code == 64 && nowhere.errors.contains("Add --server"))
        let keyless = try KeelProcess([
            "analytics", "flush", folder.path, "--to", "segment", "--no-rules",
        ]).wait()
        #expect(keyless.code == 1 && keyless.errors.contains("requires a key"))
        #expect(keyless.errors.contains("Set the variable KEEL_ANALYTICS_KEY"))
        do {
            let service = try AnalyticsService(at: folder, configuration: AnalyticsConfiguration())
            let busy = try KeelProcess(flush + ["--no-rules", "--json"]).wait()
            #expect(busy.code == 1 && busy.errors.contains(#""code":"inUse""#))
            withExtendedLifetime(service) {}
        }
        let failed = try KeelProcess(flush + ["--no-rules", "--timeout", "60"]).wait()
        #expect(failed.code == 2 && failed.errors.contains("The last attempt failed"))
        let nothing = try KeelProcess(["analytics", "status", scratch.folder.path, "--json"])
            .wait()
        #expect(nothing.code == 1 && nothing.errors.contains(#""code":"notFound""#))
    }
}
#endif
