import KeelStorageAdapting
import Testing

@Suite("Change positions as cursors")
struct ChangePositionTests {
    private static let places: [ChangePosition.Place] = [
        .copy(start: LogPoint(7, mark: 1), row: 0),
        .copy(start: LogPoint(7, mark: 1), row: 12),
        .copy(start: LogPoint(7, mark: 1), row: .max),
        .scopedCopy(start: LogPoint(8, mark: 1), collection: 2, id: "a"),
        .scopedCopy(start: LogPoint(8, mark: 1), collection: 2, id: "é"),
        .scopedCopy(start: LogPoint(8, mark: 1), collection: 300, id: "a"),
        .log(LogPoint(0, mark: 0)),
        .log(LogPoint(7, mark: .max)),
        .log(LogPoint(8, mark: 1)),
        .log(LogPoint(1 << 40, mark: 1)),
    ]

    @Test("Every position is decoded unchanged")
    func roundTrip() throws {
        let epoch = UInt64.max - 5
        for place in Self.places {
            let position = ChangePosition(epoch: epoch, place)
            let found = try #require(ChangePosition(position.cursor))
            #expect(found.epoch == epoch)
            #expect("\(found.place)" == "\(place)")
            #expect(found.cursor == position.cursor)
        }
    }

    @Test("Later positions have higher bytes")
    func order() {
        let cursors = Self.places.map { ChangePosition(epoch: 3, $0).cursor }
        for (one, next) in zip(cursors, cursors.dropFirst()) { #expect(one < next) }
    }

    @Test("Invalid bytes are not decoded as a position")
    func foreign() {
        let cursor = ChangePosition(epoch: 3, .log(LogPoint(8, mark: 1))).cursor
        #expect(ChangePosition(ChangeCursor(bytes: [])) == nil)
        #expect(ChangePosition(ChangeCursor(bytes: Array(cursor.bytes.dropLast()))) == nil)
        #expect(ChangePosition(ChangeCursor(bytes: cursor.bytes + [0])) == nil)
        var other = cursor.bytes
        other[8] = 9
        #expect(ChangePosition(ChangeCursor(bytes: other)) == nil)
    }
}
