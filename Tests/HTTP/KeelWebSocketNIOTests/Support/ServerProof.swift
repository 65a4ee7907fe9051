#if WebSocket
import Foundation

/// The proof of a server (RFC 6455 section 4.2.2), by an independent implementation.
enum ServerProof {
    static func make(of key: String) -> String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        return Data(hash(text)).base64EncodedString()
    }

    /// SHA-1 as in FIPS 180-4 section 6.1.3, with a window of sixteen words.
    static func hash(_ message: [UInt8]) -> [UInt8] {
        var bytes = message
        bytes.append(0x80)
        while bytes.count % 64 != 56 { bytes.append(0) }
        let bits = UInt64(message.count) * 8
        for byte in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: bits >> (56 - 8 * byte))) }
        var sum: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
        func turn(_ word: UInt32, _ by: UInt32) -> UInt32 { word << by | word >> (32 - by) }
        for start in stride(from: 0, to: bytes.count, by: 64) {
            var window = (0..<16).map { word in
                (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[start + word * 4 + $1]) }
            }
            var part = sum
            for round in 0..<80 {
                let place = round & 15
                if round > 15 {
                    window[place] = turn(
                        window[(place + 13) & 15] ^ window[(place + 8) & 15]
                            ^ window[(place + 2) & 15] ^ window[place],
                        1
                    )
                }
                let mixed: UInt32
                switch round / 20 {
                case 0: mixed = (part[3] ^ (part[1] & (part[2] ^ part[3]))) &+ 0x5a82_7999
                case 1: mixed = (part[1] ^ part[2] ^ part[3]) &+ 0x6ed9_eba1
                case 2:
                    mixed = ((part[1] & part[2]) | (part[3] & (part[1] | part[2]))) &+ 0x8f1b_bcdc
                default: mixed = (part[1] ^ part[2] ^ part[3]) &+ 0xca62_c1d6
                }
                let head = turn(part[0], 5) &+ mixed &+ part[4] &+ window[place]
                part = [head, part[0], turn(part[1], 30), part[2], part[3]]
            }
            for index in 0..<5 { sum[index] = sum[index] &+ part[index] }
        }
        return sum.flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) }
        }
    }
}
#endif
