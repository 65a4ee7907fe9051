import KeelHTTP
import Testing

@Suite("Pins of public keys")
struct PublicKeyPinsTests {
    private func pin(_ byte: UInt8) throws -> PublicKeyPins.Pin {
        try #require(PublicKeyPins.Pin(digest: [UInt8](repeating: byte, count: 32)))
    }

    @Test("Hosts are pinned in any spelling, also those that are added later")
    func spelling() throws {
        let (first, second) = (try pin(1), try pin(2))
        var pins = PublicKeyPins(["A.example.org": [first]])
        pins.hosts["B.Example.org"] = [second]
        #expect(pins.pins(for: "a.EXAMPLE.org") == Set([first]))
        #expect(pins.pins(for: "b.example.org") == Set([second]))
        pins.hosts["A.EXAMPLE.ORG", default: []].insert(second)
        let all: [String: Set<PublicKeyPins.Pin>] = [
            "a.example.org": [first, second], "b.example.org": [second],
        ]
        #expect(pins.hosts == all)
    }
}
