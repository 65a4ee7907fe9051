#if PostgreSQL
internal import Foundation

extension ConnectionSettings {
    /// Returns the name of a host that must be looked up; nil if it has an address or a socket.
    static func name(of host: Parameters) -> String? {
        guard let name = host["host"], !name.isEmpty, !name.hasPrefix("/"), !name.hasPrefix("@"),
            host["hostaddr"] == nil
        else { return nil }
        return name
    }

    /// Returns a host once for each address of its name; nothing if the name is unknown.
    ///
    /// libpq blocks while it looks up a name, and goes to the next address of a name only after an error, not if an
    /// address is silent.
    static func addresses(
        of host: Parameters,
        resolving resolve: (String) -> [String] = ConnectionSettings.numericAddresses(of:)
    ) -> [Parameters] {
        guard let name = name(of: host) else { return [host] }
        let addresses = resolve(name)
        guard addresses != [name] else { return [host] }
        return addresses.map { host.merging(["hostaddr": $0]) { $1 } }
    }

    /// Returns the numeric addresses of a name; nothing if the name is unknown.
    static func numericAddresses(of name: String) -> [String] {
        var hints = addrinfo()
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [String] = []
        var next = list
        while let entry = next?.pointee {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let status = getnameinfo(
                entry.ai_addr,
                entry.ai_addrlen,
                &text,
                socklen_t(text.count),
                nil,
                0,
                NI_NUMERICHOST
            )
            if status == 0 {
                let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
                addresses.append(String(decoding: bytes, as: UTF8.self))
            }
            next = entry.ai_next
        }
        return addresses
    }
}
#endif
