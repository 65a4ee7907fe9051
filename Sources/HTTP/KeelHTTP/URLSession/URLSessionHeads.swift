#if canImport(Darwin) || URLSession
package import HTTPTypes

#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

extension URLRequest {
    /// Creates the request that a head describes; nil if its target is not valid.
    package init?(_ head: HTTPRequest) {
        guard let scheme = head.scheme, let authority = head.authority, let path = head.path,
            path.utf8.first == UInt8(ascii: "/"),
            let url = URL(string: "\(scheme)://\(authority)\(path)")
        else { return nil }
        self.init(url: url)
        httpMethod = head.method.rawValue
        for field in head.headerFields.joiningCookies {
            addValue(field.value, forHTTPHeaderField: field.name.rawName)
        }
    }
}

extension HTTPResponse {
    package init(_ response: HTTPURLResponse) {
        self.init(status: Status(code: response.statusCode))
        for (name, value) in response.allHeaderFields {
            guard let name = (name as? String).flatMap({ HTTPField.Name($0) }),
                let value = value as? String
            else { continue }
            guard name == .setCookie else {
                headerFields.append(HTTPField(name: name, value: value))
                continue
            }
            for field in SetCookieFields.fields(inJoined: value) {
                headerFields.append(HTTPField(name: name, value: field))
            }
        }
    }
}
#endif
