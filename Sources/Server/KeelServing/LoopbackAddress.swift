/// A test for loopback addresses, which only programs on the same machine can reach.
public enum LoopbackAddress: Sendable {
    /// Returns whether a host is `localhost`, in 127.0.0.0/8 (RFC 1122 section 3.2.1.3) or `::1`.
    ///
    /// - Parameter host: The host, without a port; an IPv6 address with or without brackets.
    /// - Returns: Whether the host is a loopback address. IPv4 addresses in shortened notation are not recognized.
    public static func contains(_ host: String) -> Bool {
        switch host.lowercased() {
        case "127.0.0.1", "localhost", "::1", "[::1]": return true
        default: break
        }
        let dot = UInt8(ascii: ".")
        let numbers = host.utf8.split(separator: dot, omittingEmptySubsequences: false)
        guard numbers.count == 4, numbers[0].elementsEqual("127".utf8) else { return false }
        return numbers.allSatisfy { number in
            number.count <= 3 && number.allSatisfy { (0x30...0x39).contains($0) }
                && UInt8(Substring(number)) != nil
        }
    }
}
