#include "graph_grammar.h"
#include "graph.h"

#define O   DIALECT_ORCH
#define V4  DIALECT_V4
#define V3  DIALECT_V3
#define ALL DIALECT_ALL

/* clang-format off */
static const struct leat_graph_rule rules[] = {
    { ELEMENT_FILE, "Graphs", ELEMENT_GRAPHS, ALL, 1, 1, "xmlns? formatMinorVersion? appname?", 0 },
    { ELEMENT_GRAPHS, "GraphType", ELEMENT_GRAPH_TYPE, ALL, 0, 1, "id xmlns?", 0 },
    { ELEMENT_GRAPHS, "GraphTypeReference", ELEMENT_TYPE_REFERENCE, V3, 0, 1, "id src", 0 },
    { ELEMENT_GRAPHS, "GraphInstance", ELEMENT_INSTANCE, O | V4, 0, MANY, "id graphTypeId P? xmlns?", 0 },
    { ELEMENT_GRAPHS, "GraphInstance", ELEMENT_INSTANCE, V3, 0, MANY, "id graphTypeId xmlns?", 0 },

    { ELEMENT_GRAPH_TYPE, "Properties", ELEMENT_STRUCT, O | V4, 0, 1, "", SLOT_PROPERTIES },
    { ELEMENT_GRAPH_TYPE, "Properties", ELEMENT_STRUCT, V3, 0, 1, "cTypeName?", SLOT_PROPERTIES },
    { ELEMENT_GRAPH_TYPE, "SharedCode", ELEMENT_CODE, O | V4, 0, 1, "", SLOT_SHARED },
    { ELEMENT_GRAPH_TYPE, "SharedCode", ELEMENT_CODE, V3, 0, MANY, "", SLOT_SHARED },
    { ELEMENT_GRAPH_TYPE, "Types", ELEMENT_TYPES, V3, 0, 1, "", 0 },
    { ELEMENT_GRAPH_TYPE, "MessageTypes", ELEMENT_MESSAGE_TYPES, O | V4, 0, 1, "", 0 },
    { ELEMENT_GRAPH_TYPE, "MessageTypes", ELEMENT_MESSAGE_TYPES, V3, 1, 1, "", 0 },
    { ELEMENT_GRAPH_TYPE, "DeviceTypes", ELEMENT_DEVICE_TYPES, ALL, 1, 1, "", 0 },
    { ELEMENT_TYPES, "TypeDef", ELEMENT_TYPE_DEF, V3, 0, MANY, "id", SLOT_DATA },
    { ELEMENT_MESSAGE_TYPES, "MessageType", ELEMENT_MESSAGE_TYPE, ALL, 0, MANY, "id", 0 },
    { ELEMENT_MESSAGE_TYPE, "Message", ELEMENT_STRUCT, O | V4, 0, 1, "", SLOT_DATA },
    { ELEMENT_MESSAGE_TYPE, "Message", ELEMENT_STRUCT, V3, 0, 1, "cTypeName?", SLOT_DATA },

    { ELEMENT_DEVICE_TYPES, "DeviceType", ELEMENT_DEVICE_TYPE, ALL, 0, MANY, "id", 0 },
    { ELEMENT_DEVICE_TYPES, "ExternalType", ELEMENT_EXTERNAL_TYPE, ALL, 0, MANY, "id", 0 },
    { ELEMENT_DEVICE_TYPES, "SupervisorType", ELEMENT_SUPERVISOR_TYPE, O | V4, 0, 1, "id SupervisorInPin? SupervisorOutPin?", 0 },
    { ELEMENT_DEVICE_TYPES, "SupervisorType", ELEMENT_UNSUPPORTED, V3, 0, MANY, "", 0 },

    { ELEMENT_DEVICE_TYPE, "Properties", ELEMENT_STRUCT, O | V4, 0, 1, "", SLOT_PROPERTIES },
    { ELEMENT_DEVICE_TYPE, "Properties", ELEMENT_STRUCT, V3, 0, 1, "cTypeName?", SLOT_PROPERTIES },
    { ELEMENT_DEVICE_TYPE, "State", ELEMENT_STRUCT, O | V4, 0, 1, "", SLOT_STATE },
    { ELEMENT_DEVICE_TYPE, "State", ELEMENT_STRUCT, V3, 0, 1, "cTypeName?", SLOT_STATE },
    { ELEMENT_DEVICE_TYPE, "SharedCode", ELEMENT_CODE, O | V4, 0, 1, "", SLOT_SHARED },
    { ELEMENT_DEVICE_TYPE, "SharedCode", ELEMENT_CODE, V3, 0, MANY, "", SLOT_SHARED },
    { ELEMENT_DEVICE_TYPE, "ReadyToSend", ELEMENT_CODE, O | V4, 0, 1, "", LEAT_GRAPH_READY_TO_SEND },
    { ELEMENT_DEVICE_TYPE, "ReadyToSend", ELEMENT_CODE, V3, 1, 1, "", LEAT_GRAPH_READY_TO_SEND },
    { ELEMENT_DEVICE_TYPE, "OnInit", ELEMENT_CODE, ALL, 0, 1, "", LEAT_GRAPH_ON_INIT },
    { ELEMENT_DEVICE_TYPE, "OnHardwareIdle", ELEMENT_CODE, ALL, 0, 1, "", LEAT_GRAPH_ON_HARDWARE_IDLE },
    { ELEMENT_DEVICE_TYPE, "OnDeviceIdle", ELEMENT_CODE, ALL, 0, 1, "", LEAT_GRAPH_ON_DEVICE_IDLE },
    { ELEMENT_DEVICE_TYPE, "OnCtl", ELEMENT_CODE, ALL, 0, 1, "", LEAT_GRAPH_ON_CTL },
    { ELEMENT_DEVICE_TYPE, "OnThreadIdle", ELEMENT_UNSUPPORTED, V3, 0, MANY, "", 0 },
    { ELEMENT_DEVICE_TYPE, "InputPin", ELEMENT_INPUT_PIN, ALL, 0, MANY, "name messageTypeId", 0 },
    { ELEMENT_DEVICE_TYPE, "OutputPin", ELEMENT_OUTPUT_PIN, O | V4, 0, MANY, "name messageTypeId indexed?", 0 },
    { ELEMENT_DEVICE_TYPE, "OutputPin", ELEMENT_OUTPUT_PIN, V3, 0, MANY, "name messageTypeId indexed? priority?", 0 },
    { ELEMENT_DEVICE_TYPE, "SupervisorInPin", ELEMENT_SUPERVISOR_IN_PIN, O | V4, 0, 1, "messageTypeId id? name?", 0 },
    { ELEMENT_DEVICE_TYPE, "SupervisorOutPin", ELEMENT_SUPERVISOR_OUT_PIN, O | V4, 0, 1, "messageTypeId id? name?", 0 },

    { ELEMENT_EXTERNAL_TYPE, "Properties", ELEMENT_STRUCT, O | V4, 0, 1, "", SLOT_PROPERTIES },
    { ELEMENT_EXTERNAL_TYPE, "Properties", ELEMENT_STRUCT, V3, 0, 1, "cTypeName?", SLOT_PROPERTIES },
    { ELEMENT_EXTERNAL_TYPE, "InputPin", ELEMENT_INPUT_PIN_BARE, ALL, 0, MANY, "name messageTypeId", 0 },
    { ELEMENT_EXTERNAL_TYPE, "OutputPin", ELEMENT_OUTPUT_PIN_BARE, ALL, 0, MANY, "name messageTypeId", 0 },

    { ELEMENT_SUPERVISOR_TYPE, "Properties", ELEMENT_STRUCT, O | V4, 0, 1, "", SLOT_PROPERTIES },
    { ELEMENT_SUPERVISOR_TYPE, "State", ELEMENT_STRUCT, O | V4, 0, 1, "", SLOT_STATE },
    { ELEMENT_SUPERVISOR_TYPE, "Code", ELEMENT_CODE, O | V4, 0, 1, "", SLOT_SHARED },
    { ELEMENT_SUPERVISOR_TYPE, "OnInit", ELEMENT_CODE, O | V4, 0, 1, "", LEAT_GRAPH_ON_INIT },
    { ELEMENT_SUPERVISOR_TYPE, "OnStop", ELEMENT_CODE, O | V4, 0, 1, "", LEAT_GRAPH_ON_STOP },
    { ELEMENT_SUPERVISOR_TYPE, "OnSupervisorIdle", ELEMENT_CODE, O | V4, 0, 1, "", LEAT_GRAPH_ON_SUPERVISOR_IDLE },
    { ELEMENT_SUPERVISOR_TYPE, "OnRTCL", ELEMENT_CODE, O | V4, 0, 1, "", LEAT_GRAPH_ON_RTCL },
    { ELEMENT_SUPERVISOR_TYPE, "OnCTL", ELEMENT_CODE, O | V4, 0, 1, "", LEAT_GRAPH_ON_CTL },
    { ELEMENT_SUPERVISOR_TYPE, "SupervisorInPin", ELEMENT_SUPERVISOR_IN_PIN, O | V4, 0, 1, "id? messageTypeId", 0 },
    { ELEMENT_SUPERVISOR_TYPE, "SupervisorOutPin", ELEMENT_SUPERVISOR_OUT_PIN, O | V4, 0, 1, "id? messageTypeId", 0 },
    { ELEMENT_SUPERVISOR_TYPE, "InputPin", ELEMENT_UNSUPPORTED, O | V4, 0, MANY, "", 0 },
    { ELEMENT_SUPERVISOR_TYPE, "OutputPin", ELEMENT_UNSUPPORTED, O | V4, 0, MANY, "", 0 },

    { ELEMENT_INPUT_PIN, "Properties", ELEMENT_STRUCT, O | V4, 0, 1, "", SLOT_PROPERTIES },
    { ELEMENT_INPUT_PIN, "Properties", ELEMENT_STRUCT, V3, 0, 1, "cTypeName?", SLOT_PROPERTIES },
    { ELEMENT_INPUT_PIN, "State", ELEMENT_STRUCT, O | V4, 0, 1, "", SLOT_STATE },
    { ELEMENT_INPUT_PIN, "State", ELEMENT_STRUCT, V3, 0, 1, "cTypeName?", SLOT_STATE },
    { ELEMENT_INPUT_PIN, "OnReceive", ELEMENT_CODE, ALL, 1, 1, "", SLOT_PIN },
    { ELEMENT_OUTPUT_PIN, "OnSend", ELEMENT_CODE, ALL, 1, 1, "", SLOT_PIN },
    { ELEMENT_SUPERVISOR_IN_PIN, "OnReceive", ELEMENT_CODE, O | V4, 1, 1, "", SLOT_PIN },
    { ELEMENT_SUPERVISOR_OUT_PIN, "OnSend", ELEMENT_CODE, O | V4, 1, 1, "", SLOT_PIN },

    { ELEMENT_INSTANCE, "Properties", ELEMENT_INSTANCE_PROPERTIES, V3, 0, 1, "", SLOT_PROPERTIES },
    { ELEMENT_INSTANCE, "DeviceInstances", ELEMENT_DEVICES, O | V4, 0, 1, "", 0 },
    { ELEMENT_INSTANCE, "DeviceInstances", ELEMENT_DEVICES, V3, 1, 1, "sorted?", 0 },
    { ELEMENT_INSTANCE, "EdgeInstances", ELEMENT_EDGES, O | V4, 0, 1, "", 0 },
    { ELEMENT_INSTANCE, "EdgeInstances", ELEMENT_EDGES, V3, 1, 1, "sorted?", 0 },
    { ELEMENT_EDGES, "EdgeI", ELEMENT_EDGE, O | V4, 0, MANY, "path P? S? sendIndex?", 0 },
    { ELEMENT_EDGES, "EdgeI", ELEMENT_EDGE, V3, 0, MANY, "path sendIndex?", 0 },
    { ELEMENT_DEVICES, "DevI", ELEMENT_DEVICE, O | V4, 0, MANY, "id type P? S?", 0 },
    { ELEMENT_DEVICES, "DevI", ELEMENT_DEVICE, V3, 0, MANY, "id type", 0 },
    { ELEMENT_DEVICES, "ExtI", ELEMENT_EXTERNAL, O | V4, 0, MANY, "id type P?", 0 },
    { ELEMENT_DEVICES, "ExtI", ELEMENT_EXTERNAL, V3, 0, MANY, "id type", 0 },
    { ELEMENT_DEVICE, "P", ELEMENT_VALUE, V3, 0, 1, "", SLOT_PROPERTIES },
    { ELEMENT_DEVICE, "S", ELEMENT_VALUE, V3, 0, 1, "", SLOT_STATE },
    { ELEMENT_DEVICE, "M", ELEMENT_IGNORED, V3, 0, 1, "", 0 },
    { ELEMENT_EXTERNAL, "P", ELEMENT_VALUE, V3, 0, 1, "", SLOT_PROPERTIES },
    { ELEMENT_EXTERNAL, "M", ELEMENT_IGNORED, V3, 0, 1, "", 0 },
    { ELEMENT_EDGE, "P", ELEMENT_VALUE, V3, 0, 1, "", SLOT_PROPERTIES },
    { ELEMENT_EDGE, "S", ELEMENT_VALUE, V3, 0, 1, "", SLOT_STATE },
    { ELEMENT_EDGE, "M", ELEMENT_IGNORED, V3, 0, 1, "", 0 },

#define MEMBERS_OF(parent, most) \
    { parent, "Scalar", ELEMENT_SCALAR, V3, 0, most, "name type default?", 0 }, \
    { parent, "Tuple", ELEMENT_TUPLE, V3, 0, most, "name default?", 0 }, \
    { parent, "Array", ELEMENT_ARRAY, V3, 0, most, "name length type? default?", 0 }, \
    { parent, "Union", ELEMENT_UNSUPPORTED, V3, 0, MANY, "", 0 }
    MEMBERS_OF(ELEMENT_STRUCT, MANY),
    MEMBERS_OF(ELEMENT_TUPLE, MANY),
    MEMBERS_OF(ELEMENT_ARRAY, 1),
    MEMBERS_OF(ELEMENT_TYPE_DEF, 1),
    { ELEMENT_SCALAR, "Default", ELEMENT_DEFAULT, V3, 0, 1, "", 0 },
    { ELEMENT_TUPLE, "Default", ELEMENT_DEFAULT, V3, 0, 1, "", 0 },
    { ELEMENT_ARRAY, "Default", ELEMENT_DEFAULT, V3, 0, 1, "", 0 },

#define METADATA_IN(parent) { parent, "Metadata", ELEMENT_IGNORED, O | V4, 0, MANY, "key value", 0 }
    METADATA_IN(ELEMENT_GRAPH_TYPE),
    METADATA_IN(ELEMENT_DEVICE_TYPE),
    METADATA_IN(ELEMENT_EXTERNAL_TYPE),
    METADATA_IN(ELEMENT_SUPERVISOR_TYPE),
    METADATA_IN(ELEMENT_INSTANCE),
    METADATA_IN(ELEMENT_DEVICE),
    METADATA_IN(ELEMENT_EXTERNAL),
    METADATA_IN(ELEMENT_EDGE),
    /* Anywhere. */
    { ELEMENT_COUNT, "Documentation", ELEMENT_IGNORED, V4 | V3, 0, MANY, "", 0 },
    { ELEMENT_COUNT, "MetaData", ELEMENT_IGNORED, V3, 0, MANY, "", 0 },
    { ELEMENT_COUNT, "HashDigest", ELEMENT_IGNORED, V3, 0, MANY, "", 0 },
};
/* clang-format on */

const struct leat_graph_rule *leat_graph_rule_at(size_t index)
{
    return index < sizeof rules / sizeof *rules ? &rules[index] : NULL;
}
