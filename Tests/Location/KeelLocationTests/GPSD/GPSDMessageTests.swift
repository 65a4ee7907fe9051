import Foundation
import KeelLocation
import KeelTestKit
import KeelTestSupport
import Testing

@testable import enum KeelLocation.GPSDMessage
@testable import struct KeelLocation.LineSplitter

@Suite("gpsd messages")
struct GPSDMessageTests {
    private let now = Date(timeIntervalSince1970: 1)

    private func read(_ line: String) -> GPSDMessage? {
        GPSDMessage.read(Array(line.utf8), now: now)
    }

    /// From gpsd 3.22 on Debian 12.
    private let report = """
        {"class":"TPV","device":"tcp://127.0.0.1:52950","mode":3,\
        "time":"2026-03-01T12:00:05.000Z","ept":0.005,"lat":59.329323333,"lon":18.068581667,\
        "altHAE":51.3000,"altMSL":28.0000,"alt":28.0000,"epx":15.319,"epy":17.054,"epv":23.000,\
        "track":84.4000,"magtrack":90.9000,"magvar":6.5,"speed":11.524,"climb":0.000,"eps":34.11,\
        "epc":46.00,"geoidSep":23.300,"eph":19.000,"sep":29.830}
        """

    @Test("A three-dimensional report has all values")
    func full() throws {
        guard case .fix(let fix, let device)? = read(report)
        else { return fail("it was not read") }
        #expect(device == "tcp://127.0.0.1:52950")
        #expect(fix.coordinate.latitude == 59.329323333)
        #expect(fix.coordinate.longitude == 18.068581667)
        #expect(fix.horizontalAccuracy == 19)
        #expect(fix.altitude == 28)
        #expect(fix.verticalAccuracy == 23)
        #expect(fix.speed == 11.524)
        #expect(fix.course == 84.4)
        #expect(fix.time == Date(timeIntervalSince1970: 1_772_366_405))
    }

    @Test("A two-dimensional report has no altitude, whatever it contains")
    func flat() throws {
        let line = report.replacingOccurrences(of: #""mode":3"#, with: #""mode":2"#)
        guard case .fix(let fix, _)? = read(line) else { return fail("it was not read") }
        #expect(fix.altitude == nil && fix.verticalAccuracy == nil)
        #expect(fix.speed == 11.524)
    }

    @Test("Without eph the accuracy comes from the axes, without a time the machine's is used")
    func fallbacks() {
        let line = #"{"class":"TPV","mode":2,"lat":1,"lon":2,"epx":3.0,"epy":4.0}"#
        guard case .fix(let fix, let device)? = read(line) else { return fail("it was not read") }
        #expect(fix.horizontalAccuracy == 5)
        #expect(fix.time == now)
        #expect(device == nil)
    }

    @Test("Modes 0 and 1 have no fix", arguments: [0, 1])
    func modes(_ mode: Int) {
        guard case .noFix("a")? = read(#"{"class":"TPV","device":"a","mode":\#(mode)}"#)
        else { return fail("it was not read") }
    }

    @Test(
        "Invalid messages and values are ignored",
        arguments: [
            "", "{", "null", "[]", "12", #"{"mode":3}"#, #"{"class":3}"#,
            #"{"class":"TPV"}"#, #"{"class":"TPV","mode":3}"#,
            #"{"class":"TPV","mode":3,"lat":1}"#,
            #"{"class":"TPV","mode":3,"lat":91,"lon":2}"#,
            #"{"class":"TPV","mode":2,"lat":1,"lon":200}"#,
            #"{"class":"TPV","mode":2,"lat":"1","lon":2}"#,
            #"{"class":"TPV","mode":2,"lat":1,"lon":2,"speed":-1}"#,
            #"{"class":"TPV","mode":2,"lat":1,"lon":2,"track":400}"#,
            #"{"class":"VERSION"}"#, #"{"class":"DEVICES"}"#, #"{"class":"WATCH"}"#,
            "\u{0}\u{1}\u{ff}", "$GPRMC,120000,A*00",
        ]
    )
    func malformed(_ line: String) { #expect(read(line) == nil) }

    @Test("Mutated reports are read or rejected without a crash")
    func mutated() {
        var random = SeededRandom(seed: 20_260_301)
        let original = Array(report.utf8)
        var count = 0
        for _ in 0..<20_000 {
            var line = original
            for _ in 0..<Int.random(in: 1...4, using: &random) where !line.isEmpty {
                let place = Int.random(in: line.indices, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: line[place] = UInt8.random(in: 0...255, using: &random)
                case 1: line.remove(at: place)
                case 2: line.insert(UInt8.random(in: 32...126, using: &random), at: place)
                default: line = Array(line[..<place])
                }
            }
            guard case .fix(let fix, _)? = GPSDMessage.read(line, now: now) else { continue }
            count += 1
            #expect((-90...90).contains(fix.coordinate.latitude))
            #expect(fix.speed.map { $0 >= 0 } ?? true)
        }
        // Many digits can be replaced by others.
        #expect(count > 1_000)
    }

    @Test("Other messages are recognized by their class")
    func others() throws {
        guard
            case .version(3)? = read(#"{"class":"VERSION","release":"3.22","proto_major":3}"#),
            case .devices(["/dev/a"])? = read(
                #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/a"},{}]}"#
            ), case .watch(true)? = read(#"{"class":"WATCH","enable":true,"json":true}"#),
            case .error("no")? = read(#"{"class":"ERROR","message":"no"}"#),
            case .error? = read(#"{"class":"ERROR"}"#),
            case .closed("/dev/a")? = read(#"{"class":"DEVICE","path":"/dev/a","activated":0}"#),
            case .closed("/dev/a")? = read(#"{"class":"DEVICE","path":"/dev/a"}"#),
            case .other? = read(
                #"{"class":"DEVICE","path":"/dev/a","activated":"2026-03-01T12:00:05.000Z"}"#
            ), case .other? = read(#"{"class":"DEVICE","path":"/dev/a","activated":12.5}"#),
            case .other? = read(#"{"class":"DEVICE"}"#),
            case .other? = read(#"{"class":"SKY","satellites":[{"PRN":1}]}"#),
            case .other? = read(#"{"class":"NEW"}"#)
        else { return fail("one was not read") }
    }

    @Test("Lines are joined from chunks of any size", arguments: [1, 2, 3, 7, 100])
    func splits(_ size: Int) {
        let bytes = Array("one\r\n\r\n\ntwo\nthree \r\nrest".utf8)
        var splitter = LineSplitter(limit: 10)
        var lines: [String] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let taken = splitter.take(bytes[start..<min(start + size, bytes.count)])
            lines += taken.lines.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(lines == ["one", "two", "three "])
    }

    @Test("A line beyond the limit is skipped to its end and counted once")
    func limits() {
        var splitter = LineSplitter(limit: 5)
        let long = splitter.take(Array("12345\n123456789012345".utf8))
        #expect(long.lines.map { String(decoding: $0, as: UTF8.self) } == ["12345"])
        #expect(long.oversizedCount == 1)
        let rest = splitter.take(Array("67890\nab\n".utf8))
        #expect(rest.lines.map { String(decoding: $0, as: UTF8.self) } == ["ab"])
        #expect(rest.oversizedCount == 0)
    }
}
