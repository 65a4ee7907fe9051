import KeelAnalytics
import KeelAnalyticsHTTP
import KeelHTTP
import KeelTestKit
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Sizes and rules with random records")
struct SizeTests {
    /// The maximum size of a request without its records.
    private func envelope(_ vendor: Vendor) -> Int { vendor.isGoogle ? 16_000 : 400 }

    @Test(
        "The sizes of a batch's records cover the request without much excess",
        arguments: Vendor.allCases
    )
    func sizes(_ vendor: Vendor) async throws {
        var source = RandomRecords(seed: 0x5EED)
        let records = (0..<140).map { _ in source.next() }
        try await Scene.run(vendor) { scene async throws in
            let accepted = records.filter { refusal(of: $0, by: scene.destination) == nil }
            #expect(accepted.count > 20)
            for start in stride(from: 0, to: accepted.count, by: 7) {
                let batch = Array(accepted[start..<min(start + 7, accepted.count)])
                let before = scene.origin.requests.count
                _ = await scene.destination.deliver(batch)
                let bodies = scene.origin.requests[before...]
                let sent = bodies.reduce(0) { $0 + $1.bodyLength }
                guard !bodies.isEmpty else {
                    // Several users in one batch: nothing is sent, and the delivery halves it.
                    #expect(vendor.isGoogle)
                    continue
                }
                let told = try batch.reduce(0) { try $0 + scene.destination.size(of: $1) }
                #expect(told + envelope(vendor) * bodies.count >= sent)
                // The source is sent once for records that share it.
                let shared = vendor == .openTelemetry ? batch.count * 1000 : 16
                #expect(sent + shared >= told)
            }
        }
    }

    @Test("The vendor accepts every record that a destination accepts", arguments: Vendor.allCases)
    func acceptedIsTaken(_ vendor: Vendor) async throws {
        var source = RandomRecords(seed: 0xACCE_97)
        let records = (0..<150).map { _ in source.next() }
        try await Scene.run(vendor) { scene async throws in
            var accepted = 0
            for record in records where refusal(of: record, by: scene.destination) == nil {
                #expect(await scene.destination.deliver([record]) == .delivered, "\(record)")
                accepted += 1
            }
            #expect(accepted > 20)
            #expect(scene.server.refusals.isEmpty, "\(scene.server.refusals)")
        }
    }

    @Test("A record is encoded to the same bytes each time", arguments: Vendor.allCases)
    func deterministic(_ vendor: Vendor) async throws {
        var source = RandomRecords(seed: 7)
        let records = (0..<30).map { _ in source.next() }
        try await Scene.run(vendor) { scene async throws in
            for record in records where refusal(of: record, by: scene.destination) == nil {
                _ = await scene.destination.deliver([record])
                _ = await scene.destination.deliver([record])
            }
            let bodies = scene.origin.requests.map(\.text)
            #expect(!bodies.isEmpty)
            // A Mixpanel profile follows its event: each pair of requests is compared.
            let isPaired = vendor == .mixpanel
            if !isPaired {
                for index in stride(from: 0, to: bodies.count - 1, by: 2) {
                    #expect(bodies[index] == bodies[index + 1])
                }
            }
        }
    }

    @Test(
        "A full batch within Keel's limits is within the vendor's limits",
        arguments: Vendor.allCases
    )
    func fullBatch(_ vendor: Vendor) async throws {
        try await Scene.run(vendor) { scene async throws in
            let limits = scene.destination.limits
            var batch: [AnalyticsRecord] = []
            var bytes = 0
            let text = String(repeating: "x", count: 90)
            let properties = Dictionary(
                uniqueKeysWithValues: (0..<5).map {
                    ("property_\($0)", AnalyticsValue.string(text))
                }
            )
            while batch.count < limits.records {
                let record = AnalyticsRecord.sample(number: batch.count + 1, properties: properties)
                bytes += try scene.destination.size(of: record)
                if bytes > limits.bytes { break }
                batch.append(record)
            }
            #expect(await scene.destination.deliver(batch) == .delivered)
            #expect(scene.server.events.count == batch.count)
        }
    }
}
