import Foundation
import KeelCache
import KeelConformance
import KeelCore
import KeelTestSupport
import Testing

@Suite("Conformance of the disk tier")
struct DiskConformanceTests {
    private static let checks = CacheTierCheck.applicable(to: [.byteLimit, .durability, .files])

    @Test("Plain", arguments: checks)
    func plain(_ check: CacheTierCheck) async throws { try await run(check, sealing: nil) }

    @Test("Sealed", arguments: checks)
    func sealed(_ check: CacheTierCheck) async throws {
        try await run(check, sealing: FakeByteSealing(key: 7))
    }

    private func run(_ check: CacheTierCheck, sealing: (any ByteSealing)?) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "keel-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let subject = CacheTierSubject(
            features: [.byteLimit, .durability, .files],
            close: { await ($0 as? DiskCacheTier)?.close() },
            open: { setting in
                var configuration = DiskCacheTier.Configuration(
                    byteLimit: setting.byteLimit ?? 64 << 20
                )
                configuration.clock = setting.clock
                configuration.sealing = sealing
                return try DiskCacheTier(
                    at: folder.appending(path: setting.name),
                    configuration: configuration
                )
            }
        )
        try await check.run(on: subject)
    }
}
