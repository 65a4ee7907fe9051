import Foundation
import KeelAnalytics
import KeelCore
import KeelJournal
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Tracking")
struct TrackingTests {
    let bench = Bench()
    let vendor = ScriptedAnalyticsDestination()

    @Test("A user id is tracked once and kept across restarts until reset")
    func user() async throws {
        let before: String
        do {
            let service = try bench.service(vendor)
            before = service.anonymousID
            service.trackEvent("a")
            service.setUserID("u1")
            service.setUserID("u1")
            service.trackEvent("b")
        }
        let service = try bench.service(vendor)
        #expect(service.userID == "u1")
        #expect(service.anonymousID == before)
        service.setUserID("u1")
        service.trackEvent("c")
        service.reset()
        service.trackEvent("d")
        #expect(await service.flush())
        #expect(
            vendor.received.map(\.kind) == [
                .event("a"), .identify, .event("b"), .event("c"), .event("d"),
            ]
        )
        #expect(vendor.received.map(\.userID) == [nil, "u1", "u1", "u1", nil])
        let ids = vendor.received.map(\.anonymousID)
        #expect(Set(ids.prefix(4)) == [before])
        #expect(ids[4] != before && UUID(uuidString: ids[4]) != nil)
        #expect(vendor.received[3].session?.id != vendor.received[4].session?.id)
    }

    @Test("Super properties are in every event until removed, and the event's own take precedence")
    func superProperties() async throws {
        do {
            let service = try bench.service(vendor)
            service.setSuperProperties(["plan": "gold", "number": 1])
        }
        let service = try bench.service(vendor)
        service.setSuperProperties(["theme": "dark"])
        service.trackEvent("a", parameters: ["number": 2])
        service.removeSuperProperty("plan")
        service.trackScreen("b")
        service.reset()
        service.trackEvent("c")
        #expect(await service.flush())
        #expect(
            vendor.received.map(\.properties) == [
                ["plan": "gold", "number": 2, "theme": "dark"], ["number": 1, "theme": "dark"], [:],
            ]
        )
    }

    @Test("A session ends after a pause and continues across a restart within the pause")
    func sessions() async throws {
        do {
            let service = try bench.service(vendor)
            service.trackEvent("a")
            bench.time.advance(by: .seconds(29 * 60))
            service.trackEvent("b")
        }
        bench.time.advance(by: .seconds(29 * 60))
        let service = try bench.service(vendor)
        service.trackEvent("c")
        bench.time.advance(by: .seconds(31 * 60))
        service.trackEvent("d")
        #expect(await service.flush())
        let sessions = vendor.received.compactMap(\.session?.id)
        #expect(sessions.count == 4)
        #expect(Set(sessions.prefix(3)).count == 1)
        #expect(sessions[3] != sessions[2])
        let start = try #require(vendor.received[3].session?.start)
        #expect(start == vendor.received[3].time)
    }

    @Test("Settings that are replaced keep their permissions")
    func permissions() throws {
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let service = try AnalyticsService(at: folder, configuration: bench.configuration)
        let settings = folder.path + "/analytics.settings"
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: settings)
        service.setUserID("u-1")
        let attributes = try FileManager.default.attributesOfItem(atPath: settings)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
    }

    @Test("A session ends when a clock that was years ahead is right again")
    func leaps() async throws {
        let service = try bench.service(vendor)
        bench.time.advance(by: .seconds(365 * 86_400))
        service.trackEvent("a")
        bench.time.advance(by: .seconds(-365 * 86_400))
        service.trackEvent("b")
        bench.time.advance(by: .seconds(60))
        service.trackEvent("c")
        bench.time.advance(by: .seconds(3_600))
        service.trackEvent("d")
        #expect(await service.flush())
        let sessions = vendor.received.compactMap(\.session)
        #expect(sessions.count == 4)
        #expect(sessions[1] == sessions[2])
        #expect(Set(sessions.map(\.id)).count == 3)
        #expect(sessions[1].start == vendor.received[1].time)
    }

    @Test("Sessions can be disabled")
    func withoutSessions() async throws {
        let service = try bench.service(vendor) { $0.sessionTimeout = nil }
        service.trackEvent("a")
        #expect(await service.flush())
        #expect(vendor.received.map(\.session) == [nil])
    }

    @Test("A timed event reports its duration once")
    func timing() async throws {
        let service = try bench.service(vendor)
        service.beginTiming("upload")
        await bench.clock.advance(by: .milliseconds(2500))
        service.trackEvent("upload")
        service.trackEvent("upload")
        service.beginTiming("upload")
        service.trackEvent("upload", parameters: ["duration": "own"])
        #expect(await service.flush())
        #expect(vendor.received.map { $0.properties["duration"] } == [2.5, nil, "own"])
    }

    @Test("Secrets and personal data are neither stored nor sent, by name and by pattern")
    func redaction() async throws {
        let service = try bench.service(vendor)
        let planted = [
            "ada@example.org", "4111 1111 1111 1111", "hunter2-and-more", "203.0.113.77",
            "DE89370400440532013000", "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        ]
        service.setSuperProperties(["accessToken": "hunter2-and-more"])
        service.trackEvent(
            "a",
            parameters: [
                "note": "mail ada@example.org or 4111 1111 1111 1111",
                "password": "hunter2-and-more",
                "nested": ["list": ["from 203.0.113.77"], "api_key": ["hunter2-and-more"]],
                "pin": 4711, "iban": "DE89370400440532013000", "page": "start",
                "text": "key sk_live_4eC39HqLyjWDarjtT1zdp7dc",
            ]
        )
        service.trackUserProperty("contact", value: "ada@example.org")
        #expect(await service.flush())
        let text = "\(vendor.received)"
        for secret in planted {
            #expect(!text.contains(secret), "\(secret)")
            let bytes = Array(secret.utf8)
            for content in bench.files.disk.contents.values {
                #expect(!content.contains(bytes), "\(secret) is on the disk")
            }
        }
        #expect(vendor.received.first?.properties["page"] == "start")
        #expect(vendor.received.first?.properties["pin"] == "<redacted>")
    }

    @Test("Names of properties, events and screens, and numbers, contain no secrets either")
    func redactionOfNames() async throws {
        let service = try bench.service(vendor)
        let planted = ["ada@example.org", "4111111111111111", "5555555555554444", "hunter2"]
        service.trackEvent(
            "sent to ada@example.org",
            parameters: [
                "ada@example.org": 3, "nested": ["list": [["ada@example.org": ["a": 1]]]],
                "card": 4_111_111_111_111_111, "other": 5_555_555_555_554_444.0,
                "form": "password%3Dhunter2", "time": 1_795_341_600_123_456, "half": 0.5,
            ]
        )
        service.trackScreen("profile of ada@example.org")
        #expect(await service.flush())
        let text = "\(vendor.received)"
        for secret in planted { #expect(!text.contains(secret), "\(secret)") }
        for content in bench.files.disk.contents.values {
            #expect(!content.contains(Array("ada@example.org".utf8)))
        }
        let first = try #require(vendor.received.first)
        #expect(first.name == "sent to <redacted>")
        #expect(first.properties["<redacted>"] == 3)
        #expect(first.properties["card"] == "<redacted>")
        #expect(first.properties["time"] == 1_795_341_600_123_456)
        #expect(first.properties["half"] == 0.5)
    }

    @Test(
        "Personal data is found in short texts and in percent-encoded form",
        arguments: [
            "a@b.co", "mail%3Da%40b.co", "token=x", "pin%3A%201234", "%22password%22%3A%22x1%22",
            "card%3D4111111111111111", "user%3Aa%40b.co",
        ]
    )
    func redactionOfForms(text: String) async throws {
        let service = try bench.service(vendor)
        service.trackEvent("a", parameters: ["text": .string(text)])
        #expect(await service.flush())
        let kept = try #require(vendor.received.first?.properties["text"])
        #expect("\(kept)".contains("<redacted>"), "\(kept)")
    }

    @Test("A user id that looks like personal data is reported in the status, also after a restart")
    func personalUserID() throws {
        do {
            let service = try bench.service(vendor)
            service.setUserID("user-4711")
            #expect(!service.status.hasPersonalUserID)
            service.setUserID("ada@example.org")
            #expect(service.status.hasPersonalUserID)
        }
        let service = try bench.service(vendor)
        #expect(service.status.hasPersonalUserID)
        service.reset()
        #expect(!service.status.hasPersonalUserID)
    }

    @Test("A timing that one user started does not end with the next user")
    func timingAcrossReset() async throws {
        let service = try bench.service(vendor)
        service.beginTiming("checkout")
        service.reset()
        service.trackEvent("checkout")
        #expect(await service.flush())
        #expect(vendor.received.last?.name == "checkout")
        #expect(vendor.received.last?.properties["duration"] == nil)
    }

    @Test("Without a redactor everything is kept unchanged")
    func withoutRedaction() async throws {
        let service = try bench.service(vendor) { $0.redactor = nil }
        service.trackEvent("a", parameters: ["password": "p", "mail": "ada@example.org"])
        #expect(await service.flush())
        #expect(vendor.received.first?.properties == ["password": "p", "mail": "ada@example.org"])
    }

    @Test("A rejected event is reported, counted, and in no ledger")
    func refusals() async throws {
        let service = try bench.service(vendor) { $0.journal.recordByteLimit = 1000 }
        service.trackEvent("good")
        #expect(service.trackEvent("") == nil)
        let large = AnalyticsValue.string(String(repeating: "x ", count: 1000))
        let error = #expect(throws: AnalyticsError.self) {
            try service.record(AnalyticsEvent(name: "large", parameters: ["text": large]))
        }
        #expect(error?.code == .tooLarge)
        bench.files.limit(to: bench.files.disk.byteCount + 10)
        #expect(throws: AnalyticsError.self) { try service.record(AnalyticsScreen(name: "a")) }
        bench.files.limit(to: nil)
        #expect(service.trackEvent("again") != nil)
        #expect(service.status.refused == ["invalidArgument": 1, "tooLarge": 1, "diskFull": 1])
        #expect(await service.flush())
        #expect(vendor.received.compactMap(\.name) == ["good", "again"])
        let ledger = try #require(try service.ledgers()["scripted"])
        #expect(ledger.accepted == 2 && ledger.delivered == 2 && ledger.isBalanced)
    }

    @Test("Events tracked by many threads at once arrive once each")
    func threads() async throws {
        let service = try bench.service(vendor)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<100 {
                        service.trackEvent(
                            "a",
                            parameters: ["number": .integer(task * 100 + number)]
                        )
                    }
                }
            }
            group.addTask { while await !service.flush() {} }
        }
        #expect(await service.flush())
        #expect(vendor.received.map(\.number).sorted() == Array(0..<800))
        #expect(vendor.received.count == 800)
    }

    @Test("Every error has advice, and invalid names are rejected")
    func errors() throws {
        for code in AnalyticsError.Code.known {
            #expect(!code.advice.isEmpty)
            #expect(AnalyticsError(code, "m").recoverySuggestion == code.advice)
        }
        let bench = bench
        #expect(throws: AnalyticsError.self) {
            try bench.service(vendor, ScriptedAnalyticsDestination())
        }
        #expect(throws: AnalyticsError.self) {
            try bench.service(ScriptedAnalyticsDestination("not a name"))
        }
        #expect(throws: AnalyticsError.self) {
            try bench.service(vendor) { $0.deliveryThreshold = 0 }
        }
        #expect(throws: AnalyticsError.self) {
            try bench.service { $0.add(vendor, rules: DestinationRules(hashing: ["mail"])) }
        }
    }
}

extension [UInt8] {
    fileprivate func contains(_ other: [UInt8]) -> Bool {
        guard let first = other.first, count >= other.count else { return false }
        return indices.dropLast(other.count - 1).contains {
            self[$0] == first && self[$0..<$0 + other.count].elementsEqual(other)
        }
    }
}
