import Testing

@testable import KeelRepositories

@Suite("Fetches at the same time", .timeLimit(.minutes(1)))
struct FetchOrderTests {
    typealias Call = OtherProcessTests.Call

    private let world = PlaceWorld()

    /// The pairs of different calls; the same ones would share a fetch.
    static let pairs = Call.allCases.flatMap { early in
        Call.allCases.filter { $0 != early }.map { (early, $0) }
    }

    @Test("A response does not replace that of a later request", arguments: pairs)
    func keepsLater(early: Call, late: Call) async throws {
        world.service.set("1", 1)
        let version = try await OtherProcessTests.version(by: early, in: world) {
            world.service.set("1", 2)
            let version = try await OtherProcessTests.version(by: late, in: world.places)
            #expect(version == 2)
        }
        #expect(version == 2)
        #expect(try await world.places.entity("1", .cacheOnly).version == 2)
    }

    @Test("A list does not remove an entity that a later request has found")
    func keepsFound() async throws {
        world.service.set("1", 1)
        _ = try await OtherProcessTests.version(by: .all, in: world) {
            world.service.set("2", 1)
            _ = try await world.places.entity("2", .networkOnly)
        }
        #expect(try await world.places.all(.cacheOnly).map(\.id) == ["1", "2"])
    }

    @Test("A list does not bring back an entity that a later request has not found")
    func keepsRemoved() async throws {
        world.service.set("1", 1)
        world.service.set("2", 1)
        _ = try await OtherProcessTests.version(by: .all, in: world) {
            world.service.remove("2")
            _ = try? await world.places.entity("2", .networkOnly)
        }
        #expect(try await world.places.all(.cacheOnly).map(\.id) == ["1"])
    }

    @Test("A note of an earlier request does not replace that of a later one")
    func keepsLaterNote() {
        let order = FetchOrder()
        let (first, second, third) = (order.begin(), order.begin(), order.begin())
        order.note("1", of: third, isMissing: true)
        order.note("1", of: second)
        #expect(order.keptLater(than: first, among: []) == ["1": true])
    }

    @Test("A response replaces that of a request which began before it")
    func replacesEarlier() async throws {
        world.service.set("1", 1)
        for version in 2...3 {
            for call in Call.allCases {
                world.service.set("1", version)
                #expect(try await OtherProcessTests.version(by: call, in: world.places) == version)
                #expect(try await world.places.entity("1", .cacheOnly).version == version)
            }
        }
    }
}
