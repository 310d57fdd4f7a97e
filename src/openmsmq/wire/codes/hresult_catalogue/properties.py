"""Result codes about property arrays, their buffers, and queries over them."""

from typing import Final

from openmsmq.wire.codes.hresult import Hresult

from .entry import Explanation

PROPERTIES: Final[dict[Hresult, Explanation]] = {
    Hresult.MQ_INFORMATION_PROPERTY: Explanation(
        "The operation succeeded, but at least one property has a warning.",
        "A property was ignored, unknown or given twice.",
        "Look at the status of each property.",
    ),
    Hresult.MQ_INFORMATION_ILLEGAL_PROPERTY: Explanation(
        "The property identifier is not known; the property was skipped.",
        "The number does not belong to this kind of object.",
        "Remove the property, or correct its identifier.",
    ),
    Hresult.MQ_INFORMATION_PROPERTY_IGNORED: Explanation(
        "The property was ignored.",
        "It has no meaning in this operation.",
        "Leave it out; nothing else is needed.",
    ),
    Hresult.MQ_INFORMATION_UNSUPPORTED_PROPERTY: Explanation(
        "The property is not supported here; it was skipped.",
        "This version, or this way of access, does not offer it.",
        "Leave it out, or ask for it where it is offered.",
    ),
    Hresult.MQ_INFORMATION_DUPLICATE_PROPERTY: Explanation(
        "The property appears twice; the second one was skipped.",
        "The array lists the same identifier more than once.",
        "Keep one of the two.",
    ),
    Hresult.MQ_INFORMATION_FORMATNAME_BUFFER_TOO_SMALL: Explanation(
        "The queue was created, but its format name did not fit the buffer.",
        "The buffer for the format name is too short.",
        "Ask for the format name of the path name with a larger buffer.",
    ),
    Hresult.MQ_INFORMATION_OWNER_IGNORED: Explanation(
        "The owner given in the security descriptor was ignored.",
        "A new object belongs to its creator.",
        "Change the owner afterwards if it must be another.",
    ),
    Hresult.MQ_ERROR_PROPERTY: Explanation(
        "At least one property of the array is not valid.",
        "A value, type or identifier in the array is wrong.",
        "Look at the status of each property for the one at fault.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_PROPERTY_VALUE: Explanation(
        "The value of a property is out of its range.",
        "For instance a priority above 7, or text longer than the limit.",
        "Give a value that the property allows.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_PROPERTY_VT: Explanation(
        "The value of a property has the wrong type.",
        "The VT_* type is not the one that this property has.",
        "Use the type listed for the property.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_PROPERTY_SIZE: Explanation(
        "The value of a property has the wrong length.",
        "A fixed-size value, such as a message id of 20 bytes, is shorter or longer.",
        "Give exactly the length that the property has.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_PROPID: Explanation(
        "The property identifier does not exist.",
        "The number is wrong, or belongs to another kind of object.",
        "Use an identifier listed for this kind of object.",
    ),
    Hresult.MQ_ERROR_PROPERTY_NOTALLOWED: Explanation(
        "The property may not be used in this operation.",
        "It can only be read, or only be set when the object is created.",
        "Leave the property out of this call.",
    ),
    Hresult.MQ_ERROR_INSUFFICIENT_PROPERTIES: Explanation(
        "A property that the operation needs is missing.",
        "For instance a queue is created without a path name, or a message sent without any.",
        "Add the missing property.",
    ),
    Hresult.MQ_ERROR_PROPERTIES_CONFLICT: Explanation(
        "Two of the properties exclude each other.",
        "For instance a response queue was given twice, in two forms.",
        "Keep one of the two properties.",
    ),
    Hresult.MQ_ERROR_TOO_MANY_PROPERTIES: Explanation(
        "More than 128 properties were given in one call.",
        "The array is longer than the protocol allows.",
        "Split the call.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_MQQUEUEPROPS: Explanation(
        "The array of queue properties is not valid.",
        "It is missing or empty, or its counts do not agree.",
        "Give an array with at least one queue property.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_MQQMPROPS: Explanation(
        "The array of queue manager properties is not valid.",
        "It is missing or empty, or its counts do not agree.",
        "Give an array with at least one queue manager property.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_MQPRIVATEPROPS: Explanation(
        "The array of properties of the local queue manager is not valid.",
        "It is missing or empty, or its counts do not agree.",
        "Give an array with at least one such property.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_MQCOLUMNS: Explanation(
        "The columns of the query are not valid.",
        "The list is missing or empty, or names a column twice.",
        "Name each wanted property once.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_RESTRICTION_PROPID: Explanation(
        "The query restricts a property that cannot be searched.",
        "The identifier in the restriction is wrong or not searchable.",
        "Restrict by another property and filter the answer yourself.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_RELATION: Explanation(
        "The relation in the query is not valid.",
        "It is not one of less, equal, greater and their combinations.",
        "Use one of the published relations.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_SORT: Explanation(
        "The sort order of the query is not valid.",
        "It names a property twice, or a direction that does not exist.",
        "Sort each property once, ascending or descending.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_SORT_PROPID: Explanation(
        "The query sorts by a property that cannot be sorted.",
        "The identifier in the sort order is wrong or not sortable.",
        "Sort by another property, or sort the answer yourself.",
    ),
    Hresult.MQ_ERROR_MULTI_SORT_KEYS: Explanation(
        "The directory sorts by one property only.",
        "The query has more than one sort key.",
        "Keep one sort key and sort the rest yourself.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_CONTEXT: Explanation(
        "The context of the query is not valid.",
        "The argument that narrows the search must be empty.",
        "Leave the context empty.",
    ),
    Hresult.MQ_ERROR_USER_BUFFER_TOO_SMALL: Explanation(
        "The buffer for a property is too small.",
        "The value is longer than the caller expected.",
        "Repeat the call with a larger buffer.",
    ),
    Hresult.MQ_ERROR_RESULT_BUFFER_TOO_SMALL: Explanation(
        "The buffer for the results of the query is too small.",
        "It holds fewer values than one row of the answer has.",
        "Make room for at least one row, a value for each column.",
    ),
    Hresult.MQ_ERROR_LABEL_BUFFER_TOO_SMALL: Explanation(
        "The buffer for the label is too small.",
        "The label of the message is longer than the buffer.",
        "Read again with room for 250 characters; the message is still in the queue.",
    ),
    Hresult.MQ_ERROR_SENDERID_BUFFER_TOO_SMALL: Explanation(
        "The buffer for the sender id is too small.",
        "The SID of the sender is longer than the buffer.",
        "Read again with a larger buffer; the message is still in the queue.",
    ),
    Hresult.MQ_ERROR_SENDER_CERT_BUFFER_TOO_SMALL: Explanation(
        "The buffer for the sender's certificate is too small.",
        "The certificate is longer than the buffer.",
        "Read again with a larger buffer; the message is still in the queue.",
    ),
    Hresult.MQ_ERROR_SYMM_KEY_BUFFER_TOO_SMALL: Explanation(
        "The buffer for the symmetric key is too small.",
        "The encrypted key of the message is longer than the buffer.",
        "Read again with a larger buffer; the message is still in the queue.",
    ),
    Hresult.MQ_ERROR_SIGNATURE_BUFFER_TOO_SMALL: Explanation(
        "The buffer for the signature is too small.",
        "The signature of the message is longer than the buffer.",
        "Read again with a larger buffer; the message is still in the queue.",
    ),
    Hresult.MQ_ERROR_PROV_NAME_BUFFER_TOO_SMALL: Explanation(
        "The buffer for the provider's name is too small.",
        "The name of the crypto provider is longer than the buffer.",
        "Read again with a larger buffer; the message is still in the queue.",
    ),
    Hresult.MQ_ERROR_SECURITY_DESCRIPTOR_TOO_SMALL: Explanation(
        "The buffer for the security descriptor is too small.",
        "The descriptor has more entries than the caller expected.",
        "Repeat the call with a buffer of the length that was returned.",
    ),
}
