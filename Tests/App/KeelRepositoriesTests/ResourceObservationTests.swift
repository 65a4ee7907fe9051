import Foundation
import KeelRepositories
import KeelStorage
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Observed steps of loads", .timeLimit(.minutes(2)))
struct ResourceObservationTests {
    private final class Steps: Sendable {
        private let stored = Mutex<[ResourceObservation]>([])

        func add(_ step: ResourceObservation) { stored.withLock { $0.append(step) } }

        /// The lines reported since the last call.
        func take() -> [String] {
            let steps = stored.withLock { steps in
                defer { steps = [] }
                return steps
            }
            return steps.map { step in
                let outcome = step.failure?.name ?? (step.isFound ? "found" : "nothing")
                return "\(step.repository ?? "–") \(step.source) \(outcome)"
            }
        }
    }

    private let steps = Steps()

    private func places(_ service: PlaceService, _ store: WatchedStore) -> EntityRepository<Place> {
        let storage = StorageClient(store)
        return EntityRepository<Place>(
            "places",
            remote: service.remote,
            local: CollectionDataSource(storage.collection("places", as: PlaceDTO.self)),
            loader: ResourceLoader(memory: ResourceMemory(), observer: { [steps] in steps.add($0) })
        ) { $0.id }
    }

    @Test("A list asks memory, then the store, then the service, and reports each step")
    func list() async throws {
        let service = PlaceService()
        service.set("1", 1)
        let places = places(service, WatchedStore())
        _ = try await places.all(.cacheFirst(maxAge: .seconds(60)))
        // The last step fills the memory.
        let first = ["places store nothing", "places service found", "places store found"]
        #expect(steps.take() == first)
        _ = try await places.all(.cacheFirst(maxAge: .seconds(60)))
        #expect(steps.take() == ["places memory found"])
    }

    @Test("Failures of the service and the store are reported with their codes")
    func failures() async throws {
        let (service, store) = (PlaceService(), WatchedStore())
        let places = places(service, store)
        service.goOffline()
        await #expect(throws: RepositoryError.self) { try await places.all(.networkOnly) }
        #expect(steps.take() == ["places service unreachable"])
        store.failReads(.corrupted)
        await #expect(throws: RepositoryError.self) { try await places.entity("1", .cacheOnly) }
        #expect(steps.take() == ["places store storage"])
    }

    @Test("Concurrent reads report one step at the service, and no step contains a key")
    func shared() async throws {
        let service = PlaceService()
        service.set("secret", 1)
        let gate = Gate()
        service.gate.withLock { $0 = gate }
        let places = places(service, WatchedStore())
        let all = (1...10).map { _ in Task { try await places.entity("secret", .networkOnly) } }
        try await waitUntil { places.loader.waiterCount == 10 }
        gate.open()
        for one in all { #expect(try await one.value.version == 1) }
        let told = steps.take()
        #expect(told.filter { $0 == "places service found" }.count == 1)
        #expect(!told.contains { $0.contains("secret") })
    }

    @Test("The steps of a custom resource have no name")
    func own() async throws {
        let loader = ResourceLoader(observer: { [steps] in steps.add($0) })
        let resource = Resource("menus/42") {
            1
        } read: {
            nil
        } store: { _ in
        }
        #expect(try await loader.load(resource, .cacheFirst()).value == 1)
        #expect(steps.take() == ["– store nothing", "– service found"])
    }
}
