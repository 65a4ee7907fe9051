internal import Foundation
public import Synchronization

// The part of Apple's Security framework that the adapter calls, over a dictionary. It follows the documentation of
// SecItemAdd and its siblings, and shows that the adapter compiles, sends complete queries and reads the results; it
// cannot show the behavior of a real keychain.

public typealias CFString = String
public typealias CFDictionary = [String: Any]
public typealias CFTypeRef = Any
public typealias OSStatus = Int32

public let kSecClass = "class"
public let kSecClassGenericPassword = "genp"
public let kSecAttrService = "svce"
public let kSecAttrAccount = "acct"
public let kSecAttrAccessGroup = "agrp"
public let kSecAttrAccessible = "pdmn"
public let kSecAttrSynchronizable = "sync"
public let kSecUseDataProtectionKeychain = "nleg"
public let kSecValueData = "v_Data"
public let kSecReturnData = "r_Data"
public let kSecReturnAttributes = "r_Attributes"
public let kSecMatchLimit = "m_Limit"
public let kSecMatchLimitOne = "m_LimitOne"
public let kSecMatchLimitAll = "m_LimitAll"
public let kSecAttrAccessibleWhenUnlocked = "ak"
public let kSecAttrAccessibleAfterFirstUnlock = "ck"
public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly = "aku"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = "cku"

public let errSecSuccess: OSStatus = 0
public let errSecParam: OSStatus = -50
public let errSecUserCanceled: OSStatus = -128
public let errSecNotAvailable: OSStatus = -25_291
public let errSecDuplicateItem: OSStatus = -25_299
public let errSecItemNotFound: OSStatus = -25_300
public let errSecInteractionNotAllowed: OSStatus = -25_308
public let errSecMissingEntitlement: OSStatus = -34_018

private struct Item: Sendable {
    var service: String
    var account: String
    var group: String
    var isSynchronized: Bool
    var data: Data
    var accessibility: String

    func matches(_ query: CFDictionary) -> Bool {
        func same(_ name: String, _ value: String) -> Bool {
            guard let wanted = query[name] as? String else { return true }
            return wanted.utf8.elementsEqual(value.utf8)
        }
        return same(kSecAttrService, service) && same(kSecAttrAccount, account)
            && same(kSecAttrAccessGroup, group)
            && query[kSecAttrSynchronizable] as? Bool ?? false == isSynchronized
    }
}

private let items = Mutex<[Item]>([])
/// The status that every call returns, for tests of errors; nil to use the items.
public let forcedStatus = Mutex<OSStatus?>(nil)
/// An action of another process, run once before the next change.
public let beforeChange = Mutex<(@Sendable () -> Void)?>(nil)

/// Returns the `kSecAttrAccessible` of an item; nil if it has none.
public func accessibility(ofService service: String, account: String) -> String? {
    items.withLock { items in
        items.first { $0.service == service && $0.account == account }?.accessibility
    }
}

private func letOtherProcessChange() {
    let change = beforeChange.withLock { $0.take() }
    change?()
}

private func refusal(_ query: CFDictionary) -> OSStatus? {
    if let status = forcedStatus.withLock({ $0 }) { return status }
    guard query[kSecClass] as? String == kSecClassGenericPassword,
        query[kSecUseDataProtectionKeychain] as? Bool == true
    else { return errSecParam }
    return nil
}

// swift-format-ignore: AlwaysUseLowerCamelCase
public func SecItemAdd(
    _ attributes: CFDictionary,
    _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    letOtherProcessChange()
    if let status = refusal(attributes) { return status }
    guard let data = attributes[kSecValueData] as? Data,
        let accessibility = attributes[kSecAttrAccessible] as? String,
        let service = attributes[kSecAttrService] as? String,
        let account = attributes[kSecAttrAccount] as? String
    else { return errSecParam }
    let item = Item(
        service: service,
        account: account,
        group: attributes[kSecAttrAccessGroup] as? String ?? "own",
        isSynchronized: attributes[kSecAttrSynchronizable] as? Bool ?? false,
        data: data,
        accessibility: accessibility
    )
    var key = attributes
    key[kSecAttrAccessGroup] = item.group
    let isThere = items.withLock { items in items.contains { $0.matches(key) } }
    if isThere { return errSecDuplicateItem }
    items.withLock { $0.append(item) }
    return errSecSuccess
}

// swift-format-ignore: AlwaysUseLowerCamelCase
public func SecItemUpdate(_ query: CFDictionary, _ values: CFDictionary) -> OSStatus {
    letOtherProcessChange()
    if let status = refusal(query) { return status }
    var count = 0
    let data = values[kSecValueData] as? Data
    let accessibility = values[kSecAttrAccessible] as? String
    let matching = items.withLock { $0 }.indices.filter { index in
        items.withLock { $0[index] }.matches(query)
    }
    items.withLock { items in
        for index in matching {
            count += 1
            if let data { items[index].data = data }
            if let accessibility { items[index].accessibility = accessibility }
        }
    }
    return count == 0 ? errSecItemNotFound : errSecSuccess
}

// swift-format-ignore: AlwaysUseLowerCamelCase
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    letOtherProcessChange()
    if let status = refusal(query) { return status }
    let all = items.withLock { $0 }
    let left = all.filter { !$0.matches(query) }
    items.withLock { $0 = left }
    return left.count == all.count ? errSecItemNotFound : errSecSuccess
}

// swift-format-ignore: AlwaysUseLowerCamelCase
public func SecItemCopyMatching(
    _ query: CFDictionary,
    _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    if let status = refusal(query) { return status }
    let found = items.withLock { $0 }.filter { $0.matches(query) }
    guard let first = found.first else { return errSecItemNotFound }
    if query[kSecReturnData] as? Bool == true, query[kSecMatchLimit] as? String == kSecMatchLimitOne
    {
        result?.pointee = first.data
    } else {
        result?.pointee = found.map { [kSecAttrService: $0.service, kSecAttrAccount: $0.account] }
    }
    return errSecSuccess
}
