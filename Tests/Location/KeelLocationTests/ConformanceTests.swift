import KeelConformance
import KeelLocation
import KeelTestKit
import Testing

@Suite("Location sources keep their promises", .timeLimit(.minutes(5)))
struct ConformanceTests {
    static let scripted: LocationAdapterSubject.Features = [
        .searches, .details, .permission, .repeats, .breaks,
    ]

    /// A scripted source, with a test's decorators.
    static func subject(
        limit: Duration = .seconds(30),
        _ decorate: @escaping @Sendable (ScriptedLocationAdapter) -> any LocationAdapter = { $0 }
    ) -> LocationAdapterSubject {
        LocationAdapterSubject(features: scripted, limit: limit) { setting in
            ScriptedSource(setting).source(decorate)
        }
    }

    @Test("A scripted track", arguments: LocationAdapterCheck.applicable(to: Self.scripted))
    func onTrack(_ check: LocationAdapterCheck) async throws {
        try await check.run(on: Self.subject())
    }

    @Test(
        "A track with every decorator",
        arguments: LocationAdapterCheck.applicable(to: Self.scripted)
    )
    func decorators(_ check: LocationAdapterCheck) async throws {
        try await check.run(on: Self.subject { $0.failing([]).recorded().observed { _ in } })
    }

    #if canImport(Glibc)
    static let gpsd: LocationAdapterSubject.Features = [.searches, .details, .repeats, .breaks]

    @Test("gpsd, as a test double", arguments: LocationAdapterCheck.applicable(to: Self.gpsd))
    func onDouble(_ check: LocationAdapterCheck) async throws {
        try await check.run(
            on: LocationAdapterSubject(features: Self.gpsd) { _ in
                let double = try GPSDDouble()
                return .init(
                    double.adapter(),
                    userCount: { double.watcherCount },
                    close: { double.stop() },
                    feed: { feed in
                        switch feed {
                        case .fix(let fix): double.send(fix)
                        case .noFix: double.sendNoFix()
                        case .breakConnection: double.stop()
                        case .restoreConnection: try double.restart()
                        case .decide: break
                        }
                    }
                )
            }
        )
    }
    #endif

    @Test("There are at least forty checks with unique names")
    func count() {
        let names = LocationAdapterCheck.all.map(\.testDescription)
        #expect(Set(names).count == names.count)
        #expect(names.count >= 40)
        #expect(
            LocationAdapterCheck.Group.allCases.allSatisfy { group in
                LocationAdapterCheck.all.contains { $0.group == group }
            }
        )
    }
}

/// A scripted source for the checks: a broken connection is a failure that is reported to all
/// monitors, including later ones.
private final class ScriptedSource: Sendable {
    private let adapter: ScriptedLocationAdapter

    init(_ setting: LocationAdapterSubject.Setting) {
        adapter = ScriptedLocationAdapter(
            permission: setting.permission,
            answering: setting.answer ?? .whenInUse
        )
    }

    func source(
        _ decorate: (ScriptedLocationAdapter) -> any LocationAdapter
    ) -> LocationAdapterSubject.Source {
        let adapter = adapter
        return .init(
            decorate(adapter),
            userCount: { adapter.monitorCount },
            feed: { feed in
                switch feed {
                case .fix(let fix): adapter.send(.fix(fix))
                case .noFix: adapter.send(.searching)
                case .breakConnection: adapter.setFailure(LocationError(.disconnected, "It broke."))
                case .restoreConnection: adapter.setFailure(nil)
                case .decide(let permission): adapter.setPermission(permission)
                }
            }
        )
    }
}
